// The collectives of a worker in a job whose nodes fail: retries attempts that a death has broken,
// and handles missing neighbors.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/runtime/membership.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

Task<> exchange_and_agree(AttemptPtr attempt, Task<> messages) {
    co_await std::move(messages);
    co_await attempt->agreement.arrive();
}

Task<> wait_for(std::shared_ptr<Signal> signal, WaitReason reason) {
    co_await signal->happened(reason);
}

}  // namespace

Rank Worker::rank_in(const Attempt& attempt) const {
    const std::vector<int>& members = attempt.group->members;
    const auto place = std::ranges::lower_bound(members, own_.rank) - members.begin();
    return {shared_.network, attempt.group, static_cast<int>(place), attempt.stream};
}

Task<AttemptPtr> Worker::run_attempts(Stream round, std::string_view name, Messages messages) {
    Membership& membership = *shared_.membership;
    while (true) {
        if (membership.any_away()) co_await wait_for_detection(round);
        const AttemptPtr attempt = membership.attempt(round);
        const RoundTimer timer(shared_.entries, own_.time_use, name, attempt->stream,
                               attempt->group->members.size());
        std::shared_ptr<Signal> broken(attempt, &attempt->broken);
        const auto ended =
            co_await first_of(exchange_and_agree(attempt, messages(*attempt, rank_in(*attempt))),
                              wait_for(std::move(broken), {"the end of an attempt"}));
        if (ended.index() == 1) continue;
        membership.conclude(round);
        co_return attempt;
    }
}

// Waits until all deaths are known, or until all nodes are back if the job stalls. Messages to the
// dead would wait as long.
Task<> Worker::wait_for_detection(Stream round) {
    Membership& membership = *shared_.membership;
    const Time came = simulation().now();
    if (membership.stalls()) {
        while (membership.any_away()) {
            const int one = membership.nodes_in(Membership::State::away).front();
            co_await wait_for(membership.all_back(), {"the return of node", one});
        }
    } else {
        for (Time known = membership.last_detection(round); known > simulation().now();
             known = membership.last_detection(round))
            co_await simulation().sleep(known - simulation().now());
    }
    own_.time_use.wait_for_dead(simulation().now() - came);
}

Task<Vector> Worker::fault_tolerant_all_reduce(Stream round, Vector v, AllReducePlan how,
                                               Bytes size) {
    const Messages messages = [&](Attempt& attempt, const Rank& rank) {
        if (v.has_values()) attempt.round.enter(static_cast<std::size_t>(rank.place()), v);
        return paceline::all_reduce(how, rank, size);
    };
    const AttemptPtr attempt = co_await run_attempts(round, name_of(how, size), messages);
    if (!v.has_values()) co_return v;
    co_return attempt->round.once(mean_of<Vector>);
}

Task<Vector> Worker::fault_tolerant_mean_gradient(Vector x, AllReducePlan how) {
    Vector g = co_await gradient(x);
    co_return co_await all_reduce(std::move(g), how);
}

Task<> Worker::fault_tolerant_all_gather(Stream round, Bytes block, AllGather how) {
    const Messages messages = [&](Attempt& /*attempt*/, const Rank& rank) {
        return paceline::all_gather(how, rank, block);
    };
    co_await run_attempts(round, name_of(how), messages);
}

Task<> Worker::fault_tolerant_sparse_all_reduce(Stream round, UnionWeight weight) {
    const Messages messages = [&](Attempt& /*attempt*/, const Rank& rank) {
        return paceline::sparse_all_reduce(rank, weight);
    };
    co_await run_attempts(round, "sparse all-reduce", messages);
}

Task<Vector> Worker::fault_tolerant_sparse_all_reduce(Stream round, SparseVector v,
                                                      SparseExchange how, SparsePacking packing) {
    const Messages messages = [&](Attempt& attempt, const Rank& rank) {
        const auto members = static_cast<std::size_t>(rank.size());
        if (!attempt.sparse) attempt.sparse.emplace(members, v.layout, packing);
        attempt.sparse->enter(static_cast<std::size_t>(rank.place()), v);
        return sparse_messages(*attempt.sparse, rank, how);
    };
    const AttemptPtr attempt = co_await run_attempts(round, "sparse all-reduce", messages);
    Vector mean = attempt->sparse->mean();
    if (attempt->sparse->leave()) shared_.note_density(*attempt->sparse);
    co_return mean;
}

Task<Vector> Worker::fault_tolerant_combine(Stream round, Vector v, CollectiveOfOwn messages,
                                            Form form) {
    const Messages with_value = [&](Attempt& attempt, const Rank& rank) {
        if (v.has_values()) attempt.round.enter(static_cast<std::size_t>(rank.place()), v);
        return messages(rank);
    };
    const AttemptPtr attempt = co_await run_attempts(round, "exchange", with_value);
    if (!v.has_values()) co_return v;
    co_return attempt->round.once(form);
}

Task<> Worker::death_detected(int node) const {
    Membership& membership = *shared_.membership;
    if (membership.present(node)) co_await wait_for(membership.death(node), {"news of node", node});
    const Time known = membership.detection_time(node);
    if (known > simulation().now()) co_await simulation().sleep(known - simulation().now());
}

Task<bool> Worker::received(int from, Stream round) const {
    co_await Receive(shared_.network, own_.rank, from, round);
    co_return true;
}

// Waits for what a neighbor sent in a round; returns false if the neighbor is known to have died
// first.
Task<bool> Worker::received_before_death(int from, Stream round) const {
    const auto first = co_await first_of(received(from, round), death_detected(from));
    co_return first.index() == 0;
}

std::vector<int> Worker::listeners() const {
    return shared_.membership ? listeners_in(own_.next_round(*everybody()))
                              : mixing()->listeners(own_.rank);
}

std::vector<int> Worker::listeners_in(Stream round) const {
    std::vector<int> there = mixing()->listeners(own_.rank);
    std::erase_if(there, [&](int node) { return !shared_.membership->takes_part(node, round); });
    return there;
}

Task<Vector> Worker::fault_tolerant_neighbor_sum(Stream round, Vector v, Bytes size,
                                                 Weights weights) {
    Membership& membership = *shared_.membership;
    const MixingPtr mixing = this->mixing();
    const std::vector<int> to = listeners_in(round);
    for (const int listener : to) membership.put_mail(round, own_.rank, listener, v);
    std::vector<int> from;
    std::vector<Task<bool>> come;
    for (const MixingWeight& w : mixing->row(own_.rank)) {
        if (w.node == own_.rank) continue;
        if (!membership.is_expected(w.node, round, simulation().now()) &&
            !membership.has_mail(round, w.node, own_.rank))
            continue;
        from.push_back(w.node);
        come.push_back(received_before_death(w.node, round));
    }
    const ReportedRound reported(own_.time_use, "exchange with neighbors", round);
    Pending<> sending = start(neighbor_exchange(shared_.network, own_.rank, to, {}, round, size));
    const std::vector<bool> there = co_await when_all(std::move(come));
    co_await std::move(sending);

    std::map<int, Vector> letters;
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::optional<Vector> letter = membership.take_mail(round, from[i], own_.rank);
        if (there[i] && letter) letters.emplace(from[i], *std::move(letter));
    }
    Vector sum = Vector::zero_like(v);
    double own = 0;  // the weights of this worker and of missing neighbors
    for (const MixingWeight& w : mixing->row(own_.rank)) {
        const auto letter = letters.find(w.node);
        if (letter == letters.end())
            own += w.weight;
        else
            sum += (weights == Weights::one ? 1 : w.weight) * letter->second;
    }
    sum += (weights == Weights::one ? 1 : own) * v;
    co_return sum;
}

bool Worker::is_known_dead(int rank, int life) const {
    const Membership* const membership = shared_.membership.get();
    if (membership == nullptr || rank >= nodes()) return false;
    if (membership->present(rank)) return membership->life(rank) != life;
    return membership->detection_time(rank) <= simulation().now();
}

Task<std::optional<Letter>> Worker::next_letter_or_change(int box) {
    if (!shared_.membership) co_return co_await next_letter(box);
    auto first = co_await first_of(
        next_letter(box), wait_for(shared_.membership->change(), {"a worker that comes or goes"}));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

Task<std::optional<Letter>> Worker::next_letter_from(int node, int box) {
    if (!shared_.membership) co_return co_await next_letter(box);
    auto first = co_await first_of(next_letter(box), death_detected(node));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

}  // namespace paceline
