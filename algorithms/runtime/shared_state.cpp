#include "algorithms/runtime/shared_state.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

WorkerStates states_of(int ranks, const Vector& start) {
    WorkerStates states;
    for (int rank = 0; rank < ranks; ++rank) states.emplace_back(rank, start);
    return states;
}

// Servers are no members of the group, but messages of the attempt go to them.
void close_attempt(const SharedState& all, const Group& group, Stream stream) {
    std::vector<int> hosts = group.members;
    std::ranges::sort(hosts);
    for (int host = all.workers; host < all.network.hosts(); ++host) hosts.push_back(host);
    all.network.close(stream, hosts);
    all.network.close(second_stream(stream), hosts);
    notify(all.observer().round_closes, stream);
}

}  // namespace

SharedState::SharedState(NetworkPart part, Job work)
    : network(part),
      job(std::move(work)),
      workers(job.workers > 0 ? job.workers : network.hosts()),
      streams(job.seed),
      states(states_of(workers + job.servers, job.start)),
      groups(workers),
      orders(workers),
      steps(job, workers),
      accounts(simulation(), network.in_network(0), workers + job.servers, job.observer),
      metrics(network, workers),
      lives(network, job.failures, groups, states,
            [this](const Group& group, Stream stream) { close_attempt(*this, group, stream); }),
      mail(network, workers + job.servers) {
    PACELINE_CHECK(workers + job.servers <= network.hosts(), "every worker and server has a host");
    PACELINE_CHECK(job.takes_step != nullptr, "a job has a stop rule");
    PACELINE_CHECK(!job.timing.buckets.empty(), "a job has a step timing");
    PACELINE_CHECK(job.start.has_values() == (job.objective != nullptr),
                   "a model with values has an objective, and one without has none");
    PACELINE_CHECK(job.mixing.empty() || job.mixing.nodes() <= workers,
                   "a mixing has a row for each node, each machine or each island");
    PACELINE_CHECK(job.samples.empty() || std::cmp_equal(job.samples.size(), workers),
                   "samples are counted for each worker, or for none");
}

Bytes SharedState::weigh(const Vector& v) const {
    const bool whole = job.charged != nullptr && v.layout() == job.start.layout();
    return job.wire.weigh(whole ? job.charged->entries() : v.entries());
}

MixingPtr SharedState::mixing_of(const WorkerState& worker) const {
    PACELINE_CHECK(!job.mixing.empty(), "neighbors need a mixing");
    return job.mixing.at(std::max<std::int64_t>(worker.step, 0));
}

// Nobody takes part any more in the rounds that only some members have begun.
void SharedState::forget_rounds_of(const Group& group) {
    Stream least = states[static_cast<std::size_t>(group.members.front())].next_round(group);
    Stream most = least;
    Stream begun = 0;
    for (const int rank : group.members) {
        const WorkerState& member = states[static_cast<std::size_t>(rank)];
        least = std::min(least, member.next_round(group));
        most = std::max(most, member.next_round(group));
        begun = std::max(begun, member.rounds_begun(group));
    }
    for (Stream round = least; round < most; ++round) notify(observer().round_closes, round);
    for (const int rank : group.members)
        states[static_cast<std::size_t>(rank)].rounds[group.epoch] = begun;
    values.forget(most - begun, most);
}

void SharedState::serve(int rank, std::string name, Task<> work) {
    services.try_emplace(rank, simulation(), job.kind)
        .first->second.spawn(std::move(name), std::move(work));
}

}  // namespace paceline
