#include "algorithms/runtime/shared_state.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

// A coroutine cannot destroy its own frame, so the letter moves to those that are erased later.
Task<> deliver(SharedState& all, SharedState::Letters::iterator place, int box, Letter letter) {
    co_await Receive(all.network, place->to, place->from, lane_of_box(box));
    all.worker(place->to).boxes[box].put(std::move(letter));
    all.delivered.splice(all.delivered.end(), all.letters, place);
}

}  // namespace

SharedState::SharedState(NetworkPart part, Job work)
    : network(part),
      job(std::move(work)),
      workers(job.workers > 0 ? job.workers : network.hosts()),
      streams(job.seed),
      everybody(group(whole_group(workers)->members)),
      accounts(simulation(), network.in_network(0), workers + job.servers, job.observer),
      barrier(workers + job.servers) {
    PACELINE_CHECK(workers + job.servers <= network.hosts(), "every worker and server has a host");
    PACELINE_CHECK(job.takes_step != nullptr, "a job has a stop rule");
    PACELINE_CHECK(!job.timing.buckets.empty(), "a job has a step timing");
    PACELINE_CHECK(job.start.has_values() == (job.objective != nullptr),
                   "a model with values has an objective, and one without has none");
    PACELINE_CHECK(job.mixing.empty() || workers % job.mixing.nodes() == 0,
                   "a mixing has a row for each node, or for each machine");
    PACELINE_CHECK(job.samples.empty() || std::cmp_equal(job.samples.size(), workers),
                   "samples are counted for each worker, or for none");
    for (int rank = 0; rank < workers + job.servers; ++rank) states.emplace_back(rank, job.start);
    if (!job.failures) return;
    checkpoint.models.assign(static_cast<std::size_t>(workers), job.start);
    checkpoint.gradients.assign(static_cast<std::size_t>(workers), 0);
    if (job.failures->on_death == OnDeath::restart) return;
    membership = std::make_unique<Membership>(
        workers, job.failures->on_death == OnDeath::stall,
        [this](const Group& group, Stream stream) { close_attempt(group, stream); });
}

// Servers are no members of the group, but messages of the attempt go to them.
void SharedState::close_attempt(const Group& group, Stream stream) const {
    std::vector<int> hosts = group.members;
    for (int host = workers; host < network.hosts(); ++host) hosts.push_back(host);
    network.close(stream, hosts);
    network.close(second_stream(stream), hosts);
    notify(observer().round_closes, stream);
}

std::vector<int> SharedState::all_present() const {
    return membership ? membership->all_present() : everybody->members;
}

int SharedState::life_of(int rank) const {
    return membership && rank < workers ? membership->life(rank) : 0;
}

GroupPtr SharedState::group(std::vector<int> members, int channel) {
    const auto epoch = static_cast<std::uint32_t>(groups.size() + 1);
    GroupPtr& group = groups[{members, channel}];
    if (group == nullptr) group = std::make_shared<const Group>(Group{std::move(members), epoch});
    return group;
}

std::shared_ptr<CommonOrder> SharedState::common_order(WorkerState& worker, int channel) {
    const auto place = orders.try_emplace({channel, worker.orders[channel]++}).first;
    std::shared_ptr<CommonOrder> order = place->second.order;
    if (++place->second.workers == workers) orders.erase(place);
    return order;
}

Bytes SharedState::weigh(const Vector& v) const {
    const bool whole = job.charged != nullptr && v.layout() == job.start.layout();
    return job.wire.weigh(whole ? job.charged->entries() : v.entries());
}

MixingPtr SharedState::mixing_of(const WorkerState& worker) const {
    PACELINE_CHECK(!job.mixing.empty(), "neighbors need a mixing");
    return job.mixing.at(std::max<std::int64_t>(worker.step, 0));
}

void SharedState::serve(int rank, std::string name, Task<> work) {
    services.try_emplace(rank, simulation(), job.kind)
        .first->second.spawn(std::move(name), std::move(work));
}

void SharedState::expect_letter(int from, int to, int box, Letter letter) {
    delivered.clear();
    const auto place = letters.insert(letters.end(), {from, to});
    place->delivery.emplace(
        simulation().start(letter_process, deliver(*this, place, box, std::move(letter))));
}

void SharedState::forget_letters_of(int rank) {
    std::erase_if(letters, [rank](const LetterUnderWay& letter) {
        return letter.from == rank || letter.to == rank;
    });
}

void SharedState::note_density(SparseRound& round) {
    const MeasuredDensity measured = round.measure();
    density_sums.contribution += measured.contribution;
    density_sums.merged += measured.merged;
    density_sums.steps += measured.steps;
}

MeasuredDensity SharedState::mean_density() const {
    const std::int64_t steps = density_sums.steps;
    if (steps == 0) return {};
    const auto n = static_cast<double>(steps);
    return {density_sums.contribution / n, density_sums.merged / n, steps};
}

}  // namespace paceline
