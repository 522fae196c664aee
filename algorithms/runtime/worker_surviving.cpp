// The collectives of a worker in a job whose nodes fail: retries attempts that a death has broken,
// and handles missing neighbors.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

Task<> carry_out(AttemptPtr attempt, Task<> messages) {
    co_await std::move(messages);
    co_await attempt->agreement.arrive();
}

Task<> until(std::shared_ptr<Signal> signal, WaitReason reason) {
    co_await signal->happened(reason);
}

}  // namespace

Rank Worker::rank_in(const Attempt& attempt) const {
    const std::vector<int>& members = attempt.group->members;
    const auto place = std::ranges::lower_bound(members, rank_) - members.begin();
    return {cluster_.network_, attempt.group, static_cast<int>(place), attempt.stream};
}

Task<AttemptPtr> Worker::survive(Stream round, std::string_view name, Messages messages) {
    Membership& membership = *cluster_.membership_;
    while (true) {
        if (membership.anybody_away()) co_await learn_who_is_there(round);
        const AttemptPtr attempt = membership.attempt(round);
        const InRound here(cluster_.entries_, time_use_, name, attempt->stream,
                           attempt->group->members.size());
        std::shared_ptr<Signal> broken(attempt, &attempt->broken);
        const auto ended =
            co_await first_of(carry_out(attempt, messages(*attempt, rank_in(*attempt))),
                              until(std::move(broken), {"the end of an attempt"}));
        if (ended.index() == 1) continue;
        membership.conclude(round);
        co_return attempt;
    }
}

// Waits until all deaths are known, or until all nodes are back if the job stalls. Messages to the
// dead would wait as long.
Task<> Worker::learn_who_is_there(Stream round) {
    Membership& membership = *cluster_.membership_;
    const Time came = simulation().now();
    if (membership.stalls()) {
        while (membership.anybody_away()) {
            const int one = membership.all_in(Membership::State::away).front();
            co_await until(membership.all_back(), {"the return of node", one});
        }
    } else {
        for (Time known = membership.all_known(round); known > simulation().now();
             known = membership.all_known(round))
            co_await simulation().sleep(known - simulation().now());
    }
    time_use_.wait_for_dead(simulation().now() - came);
}

Task<Vector> Worker::surviving_all_reduce(Stream round, Vector v, AllReducePlan how, Bytes size) {
    const Messages messages = [&](Attempt& attempt, const Rank& rank) {
        if (v.has_values()) attempt.round.enter(static_cast<std::size_t>(rank.place()), v);
        return paceline::all_reduce(how, rank, size);
    };
    const AttemptPtr attempt = co_await survive(round, name_of(how, size), messages);
    if (!v.has_values()) co_return v;
    co_return attempt->round.once(mean_of<Vector>);
}

Task<Vector> Worker::surviving_mean_gradient(Vector x, AllReducePlan how) {
    Vector g = co_await gradient(x);
    co_return co_await all_reduce(std::move(g), how);
}

Task<> Worker::surviving_all_gather(Stream round, Bytes block, AllGather how) {
    const Messages messages = [&](Attempt& /*attempt*/, const Rank& rank) {
        return paceline::all_gather(how, rank, block);
    };
    co_await survive(round, name_of(how), messages);
}

Task<> Worker::surviving_sparse_all_reduce(Stream round, UnionWeight weight) {
    const Messages messages = [&](Attempt& /*attempt*/, const Rank& rank) {
        return paceline::sparse_all_reduce(rank, weight);
    };
    co_await survive(round, "sparse all-reduce", messages);
}

Task<Vector> Worker::surviving_sparse_all_reduce(Stream round, SparseVector v, SparseExchange how,
                                                 SparsePacking packing) {
    const Messages messages = [&](Attempt& attempt, const Rank& rank) {
        const auto members = static_cast<std::size_t>(rank.size());
        if (!attempt.sparse) attempt.sparse.emplace(members, v.layout, packing);
        attempt.sparse->enter(static_cast<std::size_t>(rank.place()), v);
        return sparse_messages(*attempt.sparse, rank, how);
    };
    const AttemptPtr attempt = co_await survive(round, "sparse all-reduce", messages);
    Vector mean = attempt->sparse->mean();
    if (attempt->sparse->leave()) cluster_.note_density(*attempt->sparse);
    co_return mean;
}

Task<Vector> Worker::surviving_combine(Stream round, Vector v, CollectiveOfOwn messages,
                                       Form form) {
    const Messages with_value = [&](Attempt& attempt, const Rank& rank) {
        if (v.has_values()) attempt.round.enter(static_cast<std::size_t>(rank.place()), v);
        return messages(rank);
    };
    const AttemptPtr attempt = co_await survive(round, "exchange", with_value);
    if (!v.has_values()) co_return v;
    co_return attempt->round.once(form);
}

Task<> Worker::gone(int node) {
    Membership& membership = *cluster_.membership_;
    if (membership.present(node)) co_await until(membership.death(node), {"news of node", node});
    const Time known = membership.known(node);
    if (known > simulation().now()) co_await simulation().sleep(known - simulation().now());
}

Task<bool> Worker::reached(int from, Stream round) {
    co_await Receive(cluster_.network_, rank_, from, round);
    co_return true;
}

// Waits for what a neighbor sent in a round; returns false if the neighbor is known to have died
// first.
Task<bool> Worker::reached_unless_gone(int from, Stream round) {
    const auto first = co_await first_of(reached(from, round), gone(from));
    co_return first.index() == 0;
}

std::vector<int> Worker::listeners() const {
    return cluster_.membership_ ? listeners_in(next_round()) : mixing()->listeners(rank_);
}

std::vector<int> Worker::listeners_in(Stream round) const {
    std::vector<int> there = mixing()->listeners(rank_);
    std::erase_if(there, [&](int node) { return !cluster_.membership_->takes_part(node, round); });
    return there;
}

Task<Vector> Worker::surviving_neighbor_sum(Stream round, Vector v, Bytes size, Weights weights) {
    Membership& membership = *cluster_.membership_;
    const MixingPtr mixing = this->mixing();
    const std::vector<int> to = listeners_in(round);
    for (const int listener : to) membership.put_mail(round, rank_, listener, v);
    std::vector<int> from;
    std::vector<Task<bool>> come;
    for (const MixingWeight& w : mixing->row(rank_)) {
        if (w.node == rank_) continue;
        if (!membership.is_expected(w.node, round, simulation().now()) &&
            !membership.has_mail(round, w.node, rank_))
            continue;
        from.push_back(w.node);
        come.push_back(reached_unless_gone(w.node, round));
    }
    const ToldRound told(time_use_, "exchange with neighbors", round);
    Pending<> sending = start(neighbor_exchange(cluster_.network_, rank_, to, {}, round, size));
    const std::vector<bool> there = co_await when_all(std::move(come));
    co_await std::move(sending);

    std::map<int, Vector> letters;
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::optional<Vector> letter = membership.take_mail(round, from[i], rank_);
        if (there[i] && letter) letters.emplace(from[i], *std::move(letter));
    }
    Vector sum = Vector::zero_like(v);
    double own = 0;  // the weights of this worker and of missing neighbors
    for (const MixingWeight& w : mixing->row(rank_)) {
        const auto letter = letters.find(w.node);
        if (letter == letters.end())
            own += w.weight;
        else
            sum += (weights == Weights::one ? 1 : w.weight) * letter->second;
    }
    sum += (weights == Weights::one ? 1 : own) * v;
    co_return sum;
}

bool Worker::is_known_gone(int rank, int life) const {
    const Membership* const membership = cluster_.membership_.get();
    if (membership == nullptr || rank >= nodes()) return false;
    if (membership->present(rank)) return membership->life(rank) != life;
    return membership->known(rank) <= simulation().now();
}

Task<std::optional<Letter>> Worker::next_letter_or_change(int box) {
    if (!cluster_.membership_) co_return co_await next_letter(box);
    auto first = co_await first_of(
        next_letter(box), until(cluster_.membership_->change(), {"a worker that comes or goes"}));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

Task<std::optional<Letter>> Worker::next_letter_from(int node, int box) {
    if (!cluster_.membership_) co_return co_await next_letter(box);
    auto first = co_await first_of(next_letter(box), gone(node));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

// --- checkpoints ---

Task<> Worker::pay() {
    const Duration owed = std::exchange(owed_, Duration::zero());
    co_await simulation().sleep(owed);
    time_use_.write_checkpoint(owed);
    cluster_.has_written(rank_);
}

}  // namespace paceline
