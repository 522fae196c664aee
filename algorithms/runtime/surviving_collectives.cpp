#include "algorithms/runtime/surviving_collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/start_up.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

using Messages = std::function<Task<>(Attempt& attempt, const Rank& rank)>;

Task<> exchange_and_agree(AttemptPtr attempt, Task<> messages) {
    co_await std::move(messages);
    co_await attempt->agreement.arrive();
}

Stream begin_round(const SharedState& all, WorkerState& own, const GroupPtr& group) {
    PACELINE_CHECK(group == all.lives.circle(own.rank),
                   "where nodes fail, a group is everybody, or a lane of islands");
    return own.begin_round(*group);
}

Rank rank_in(const SharedState& all, const WorkerState& own, const Attempt& attempt) {
    const std::vector<int>& members = attempt.group->members;
    auto found = std::ranges::lower_bound(members, own.rank);  // most are in order
    if (found == members.end() || *found != own.rank) found = std::ranges::find(members, own.rank);
    const auto place = found - members.begin();
    return {all.network, attempt.group, static_cast<int>(place), attempt.stream, all.job.library};
}

// Waits until all deaths are known, or until all nodes are back if the job stalls. Messages to the
// dead would wait as long.
Task<> wait_for_detection(SharedState& all, const WorkerState& own, Stream round) {
    Membership& membership = *all.lives.membership();
    const Group& circle = *all.lives.circle(own.rank);
    InWait waiting(all.observer(), all.host(own.rank), WaitFor::the_dead);
    if (membership.stalls()) {
        while (membership.any_away()) {
            const int one = membership.nodes_in(Membership::State::away).front();
            co_await wait_for(membership.all_back(), {"the return of node", one});
        }
    } else {
        for (Time known = membership.last_detection(circle, round); known > all.simulation().now();
             known = membership.last_detection(circle, round))
            co_await all.simulation().sleep(known - all.simulation().now());
    }
    waiting.note_over();
}

// Begins attempts at a round until the members of one agree; returns that one.
Task<AttemptPtr> run_attempts(SharedState& all, WorkerState& own, Stream round,
                              std::string_view name, Messages messages) {
    Membership& membership = *all.lives.membership();
    const std::int64_t contributed = own.gradients;
    while (true) {
        if (membership.any_away()) co_await wait_for_detection(all, own, round);
        const AttemptPtr attempt = membership.attempt(*all.lives.circle(own.rank), round);
        const InRound part(
            all.observer(), all.host(own.rank),
            {.name = name, .stream = attempt->stream, .members = attempt->group->members.size()});
        std::shared_ptr<Signal> broken(attempt, &attempt->broken);
        const auto ended = co_await first_of(
            exchange_and_agree(attempt, messages(*attempt, rank_in(all, own, *attempt))),
            wait_for(std::move(broken), {"the end of an attempt"}));
        if (ended.index() == 1) continue;
        membership.conclude(round);
        own.counted = std::max(own.counted, contributed);
        co_return attempt;
    }
}

Task<> surviving_exchange(SharedState& all, WorkerState& own, Stream round, std::string_view name,
                          CollectiveOfOwn messages) {
    co_await run_attempts(
        all, own, round, name,
        [&messages](Attempt& /*attempt*/, const Rank& rank) { return messages(rank); });
}

// Not inlined: its frame would become part of a caller's, and frames above a kilobyte leave the
// quick part of glibc's allocator.
[[gnu::noinline]] Task<Vector> surviving_combine(SharedState& all, WorkerState& own, Stream round,
                                                 std::string_view name, Vector v,
                                                 CollectiveOfOwn messages, Form form) {
    Messages with_value = [&](Attempt& attempt, const Rank& rank) {
        if (v.has_values()) attempt.round.enter(static_cast<std::size_t>(rank.place()), v);
        return messages(rank);
    };
    const AttemptPtr attempt = co_await run_attempts(all, own, round, name, std::move(with_value));
    if (!v.has_values()) co_return v;
    co_return attempt->round.once(form);
}

// Place 0 is that of the first worker that takes part in the attempt.
Task<Vector> surviving_reduce_to_first(SharedState& all, WorkerState& own, Stream round,
                                       std::string_view name, Vector v, CollectiveOfOwn messages,
                                       Form form) {
    Messages with_value = [&](Attempt& attempt, const Rank& rank) {
        if (v.has_values()) attempt.round.enter(static_cast<std::size_t>(rank.place()), v);
        return messages(rank);
    };
    const AttemptPtr attempt = co_await run_attempts(all, own, round, name, std::move(with_value));
    const bool first = attempt->group->members.front() == own.rank;
    if (first && v.has_values()) v = form(attempt->round);
    co_return v;
}

Task<> surviving_mean_gradients(SharedState& all, WorkerState& own, const GroupPtr& group,
                                const AllReducePlan& how, std::unique_ptr<StepsByMeans> steps) {
    while (const Vector* const x = steps->begin()) {
        Vector g = co_await gradient(all, own, *x);
        const Bytes size = all.weigh(g);
        Vector mean = co_await surviving_combine(
            all, own, begin_round(all, own, group), name_of(how, size), std::move(g),
            behind_start_up(all, own,
                            [&how, size](const Rank& rank) { return all_reduce(how, rank, size); }),
            mean_of<Vector>);
        co_await steps->end(std::move(mean));
    }
}

Task<Vector> surviving_sparse_mean(SharedState& all, WorkerState& own, Stream round, SparseVector v,
                                   SparsePacking packing) {
    Messages messages = [&](Attempt& attempt, const Rank& rank) {
        const auto members = static_cast<std::size_t>(rank.size());
        if (!attempt.sparse) attempt.sparse.emplace(members, v.layout, packing);
        attempt.sparse->enter(static_cast<std::size_t>(rank.place()), v);
        return behind_start_up(all, own, rank.size(), sparse_messages(*attempt.sparse, rank));
    };
    const AttemptPtr attempt =
        co_await run_attempts(all, own, round, name_of(packing, *v.layout), std::move(messages));
    Vector mean = attempt->sparse->mean();
    if (attempt->sparse->leave()) all.metrics.count_density(*attempt->sparse);
    co_return mean;
}

Task<bool> received(const SharedState& all, int to, int from, Stream round) {
    co_await Receive(all.network, to, from, round);
    co_return true;
}

// Waits for what a neighbor sent in a round; returns false if the neighbor is known to have died
// first. What comes later is discarded.
Task<bool> received_before_death(const SharedState& all, int to, int from, Stream round) {
    const auto first =
        co_await first_of(received(all, to, from, round), all.lives.death_detected(from));
    co_return first.index() == 0;
}

// Row i of W is that of the i-th member of the circle.
struct Neighborhood {
    const Mixing& mixing;
    const std::vector<int>& members;
    int place;

    [[nodiscard]] const std::vector<MixingWeight>& row() const { return mixing.row(place); }
    [[nodiscard]] int rank_of(int node) const { return members[static_cast<std::size_t>(node)]; }
};

Neighborhood neighborhood_of(const SharedState& all, const WorkerState& own, const Mixing& mixing) {
    const std::vector<int>& members = all.lives.circle(own.rank)->members;
    const bool is_everybody = all.lives.circle(own.rank) == all.groups.everybody();
    const auto place =
        is_everybody ? own.rank : std::ranges::find(members, own.rank) - members.begin();
    return {mixing, members, static_cast<int>(place)};
}

std::vector<int> listeners_in(const SharedState& all, const Neighborhood& around, Stream round) {
    std::vector<int> there = around.mixing.listeners(around.place);
    for (int& node : there) node = around.rank_of(node);
    std::erase_if(there,
                  [&](int rank) { return !all.lives.membership()->takes_part(rank, round); });
    return there;
}

// Returns the neighbors whose vectors this worker waits for in a round.
std::vector<int> senders_in(const SharedState& all, const WorkerState& own,
                            const Neighborhood& around, Stream round) {
    const Membership& membership = *all.lives.membership();
    std::vector<int> from;
    for (const MixingWeight& w : around.row()) {
        const int sender = around.rank_of(w.node);
        if (sender != own.rank && (membership.is_expected(sender, round, all.simulation().now()) ||
                                   membership.has_mail(round, sender, own.rank)))
            from.push_back(sender);
    }
    return from;
}

// Returns what this worker adds up for its row of W: what came from each neighbor, in the order of
// the row. What has not come by now is discarded when it does.
std::vector<std::optional<Vector>> take_mail(SharedState& all, const WorkerState& own,
                                             const Neighborhood& around, Stream round,
                                             const std::vector<int>& from,
                                             const std::vector<bool>& there) {
    std::vector<std::optional<Vector>> letters(around.row().size());
    std::size_t next = 0;  // in `from`, whose order is that of the row
    for (std::size_t i = 0; i < letters.size() && next < from.size(); ++i) {
        const int sender = around.rank_of(around.row()[i].node);
        if (sender != from[next]) continue;
        std::optional<Vector> letter = all.lives.membership()->take_mail(round, sender, own.rank);
        if (there[next])
            letters[i] = std::move(letter);
        else
            all.network.close_lane(own.rank, sender, round);
        ++next;
    }
    return letters;
}

// The weights of missing neighbors fall to the worker itself.
Vector weighted_sum(const std::vector<MixingWeight>& row, const Vector& v,
                    const std::vector<std::optional<Vector>>& letters, NeighborWeights weights) {
    Vector sum = Vector::zero_like(v);
    double own = 0;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const double weight = row[i].weight;
        if (letters[i])
            sum += (weights == NeighborWeights::one ? 1 : weight) * *letters[i];
        else
            own += weight;
    }
    sum += (weights == NeighborWeights::one ? 1 : own) * v;
    return sum;
}

Task<Vector> surviving_neighbor_sum(SharedState& all, WorkerState& own, Stream round, Vector v,
                                    Bytes size, NeighborWeights weights) {
    const MixingPtr mixing = all.mixing_of(own);
    const Neighborhood around = neighborhood_of(all, own, *mixing);
    const std::int64_t contributed = own.gradients;
    const std::vector<int> to = listeners_in(all, around, round);
    for (const int listener : to) all.lives.membership()->put_mail(round, own.rank, listener, v);
    const std::vector<int> from = senders_in(all, own, around, round);
    std::vector<Task<bool>> come;
    come.reserve(from.size());
    for (const int sender : from)
        come.push_back(received_before_death(all, own.rank, sender, round));
    const InRound shown(all.observer(), all.host(own.rank),
                        {.name = "exchange with neighbors", .stream = round});
    Pending<> sending = all.simulation().start(
        all.simulation().running_process(),
        behind_start_up(all, own, static_cast<int>(around.members.size()),
                        neighbor_exchange(all.network, own.rank, to, {}, round, size)));
    const std::vector<bool> there = co_await when_all(std::move(come));
    co_await std::move(sending);
    own.counted = std::max(own.counted, contributed);
    co_return weighted_sum(around.row(), v, take_mail(all, own, around, round, from, there),
                           weights);
}

}  // namespace

Task<> SurvivingCollectives::exchange(WorkerState& own, const GroupPtr& group,
                                      std::string_view name, CollectiveOfOwn messages) {
    if (all_.lives.is_inside_an_island(*group))
        return inside_.exchange(own, group, name, std::move(messages));
    return surviving_exchange(all_, own, begin_round(all_, own, group), name, std::move(messages));
}

Task<Vector> SurvivingCollectives::combine(WorkerState& own, const GroupPtr& group,
                                           std::string_view name, Vector v,
                                           CollectiveOfOwn messages, Form form) {
    if (all_.lives.is_inside_an_island(*group))
        return inside_.combine(own, group, name, std::move(v), std::move(messages),
                               std::move(form));
    return surviving_combine(all_, own, begin_round(all_, own, group), name, std::move(v),
                             std::move(messages), std::move(form));
}

Task<Vector> SurvivingCollectives::reduce_to_first(WorkerState& own, const GroupPtr& group,
                                                   std::string_view name, Vector v,
                                                   CollectiveOfOwn messages, Form form) {
    if (all_.lives.is_inside_an_island(*group))
        return inside_.reduce_to_first(own, group, name, std::move(v), std::move(messages),
                                       std::move(form));
    return surviving_reduce_to_first(all_, own, begin_round(all_, own, group), name, std::move(v),
                                     std::move(messages), std::move(form));
}

Task<> SurvivingCollectives::mean_gradients(WorkerState& own, const GroupPtr& group,
                                            const AllReducePlan& how,
                                            std::unique_ptr<StepsByMeans> steps) {
    if (all_.lives.is_inside_an_island(*group))
        return inside_.mean_gradients(own, group, how, std::move(steps));
    return surviving_mean_gradients(all_, own, group, how, std::move(steps));
}

Task<Vector> SurvivingCollectives::sparse_mean(WorkerState& own, const GroupPtr& group,
                                               SparseVector v, SparsePacking packing) {
    if (all_.lives.is_inside_an_island(*group))
        return inside_.sparse_mean(own, group, std::move(v), std::move(packing));
    return surviving_sparse_mean(all_, own, begin_round(all_, own, group), std::move(v),
                                 std::move(packing));
}

Task<Vector> SurvivingCollectives::neighbor_sum(WorkerState& own, const GroupPtr& group, Vector v,
                                                Bytes size, NeighborWeights weights) {
    if (all_.lives.is_inside_an_island(*group))
        return inside_.neighbor_sum(own, group, std::move(v), size, weights);
    return surviving_neighbor_sum(all_, own, begin_round(all_, own, group), std::move(v), size,
                                  weights);
}

std::vector<int> SurvivingCollectives::listeners(const WorkerState& own) const {
    const MixingPtr mixing = all_.mixing_of(own);
    return listeners_in(all_, neighborhood_of(all_, own, *mixing),
                        own.next_round(*all_.lives.circle(own.rank)));
}

}  // namespace paceline
