#include "algorithms/runtime/plain_collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/start_up.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

int place_in(const SharedState& all, const WorkerState& own, const GroupPtr& group) {
    std::ptrdiff_t place = own.rank;
    if (group != all.groups.everybody())
        place = std::ranges::find(group->members, own.rank) - group->members.begin();
    PACELINE_CHECK(std::cmp_less(place, group->members.size()),
                   "a member calls a collective of its group");
    return static_cast<int>(place);
}

// Returns this worker's place in the next collective of a group.
Rank next_rank(const SharedState& all, WorkerState& own, const GroupPtr& group) {
    const int place = place_in(all, own, group);
    return {all.network, group, place, own.begin_round(*group), all.job.library};
}

RoundPart part_of(const Rank& rank, std::string_view name) {
    return {
        .name = name, .stream = rank.stream(), .members = static_cast<std::size_t>(rank.size())};
}

// Not inlined: its frame would become part of its caller's, and frames above a kilobyte leave the
// quick part of glibc's allocator.
[[gnu::noinline]] Task<> plain_exchange(SharedState& all, const WorkerState& own, Rank rank,
                                        std::string_view name, CollectiveOfOwn messages) {
    const InRound round(all.observer(), all.host(own.rank), part_of(rank, name));
    co_await messages(rank);
}

Task<Vector> plain_combine(SharedState& all, const WorkerState& own, Rank rank,
                           std::string_view name, Vector v, CollectiveOfOwn messages, Form form) {
    const InRound part(all.observer(), all.host(own.rank), part_of(rank, name));
    if (!v.has_values()) {
        co_await messages(rank);
        co_return v;
    }
    const Stream key = rank.stream();
    const auto members = static_cast<std::size_t>(rank.size());
    all.values.vectors.at(key, members).enter(static_cast<std::size_t>(rank.place()), std::move(v));
    co_await messages(rank);
    Vector result = all.values.vectors.at(key, members).once(form);
    all.values.vectors.leave(key);
    co_return result;
}

// The members behind the first leave what they enter to it, and may be gone before it asks.
Task<Vector> plain_reduce_to_first(SharedState& all, const WorkerState& own, Rank rank,
                                   std::string_view name, Vector v, CollectiveOfOwn messages,
                                   Form form) {
    const InRound part(all.observer(), all.host(own.rank), part_of(rank, name));
    if (!v.has_values()) {
        co_await messages(rank);
        co_return v;
    }
    const Stream key = rank.stream();
    const auto members = static_cast<std::size_t>(rank.size());
    all.values.vectors.at(key, members).enter(static_cast<std::size_t>(rank.place()), v);
    co_await messages(rank);
    if (rank.place() == 0) v = form(all.values.vectors.at(key, members));
    all.values.vectors.leave(key);
    co_return v;
}

// Many workers are in plain_mean_gradient at a time, so its frame holds little. What these have on
// the stack would be in it if they were inlined.
[[gnu::noinline]] Task<> compute_gradient(SharedState& all, WorkerState& own) {
    return compute(all, own, {Work::Kind::gradient, own.gradients}, gradient_time(all, own));
}

[[gnu::noinline]] InRound in_next_all_reduce(const SharedState& all, const WorkerState& own,
                                             const Group& group, std::string_view name) {
    return {all.observer(),
            all.host(own.rank),
            {.name = name, .stream = own.next_round(group), .members = group.members.size()}};
}

[[gnu::noinline]] Task<> next_all_reduce(const SharedState& all, WorkerState& own,
                                         const GroupPtr& group, const AllReducePlan& how,
                                         Bytes size) {
    const Rank rank = next_rank(all, own, group);
    return behind_start_up(all, own, rank.size(), all_reduce(how, rank, size));
}

// The batches of all members are evaluated at once, when the messages are through.
[[gnu::noinline]] Vector mean_of_gradients(SharedState& all, const WorkerState& own,
                                           const Group& group, const Vector& x, Stream stream,
                                           std::int64_t k) {
    Round<Vector>& round = all.values.vectors.at(stream, group.members.size());
    Vector mean = round.once([&](const auto&) {
        Vector formed = evaluate_mean_gradient(all, group, x, k);
        check_finite(formed, own.rank, k);
        return formed;
    });
    all.values.vectors.leave(stream);
    return mean;
}

Task<Vector> plain_mean_gradient(SharedState& all, WorkerState& own, GroupPtr group, Vector x,
                                 const AllReducePlan& how) {
    const std::int64_t k = own.gradients;
    co_await compute_gradient(all, own);
    ++own.gradients;
    const Stream stream = own.next_round(*group);
    {
        const InRound part = in_next_all_reduce(all, own, *group, name_of(how, all.weigh(x)));
        co_await next_all_reduce(all, own, group, how, all.weigh(x));
    }
    if (x.has_values()) x = mean_of_gradients(all, own, *group, x, stream, k);
    co_return x;
}

Task<Vector> plain_sparse_mean(SharedState& all, WorkerState& own, Rank rank, SparseVector v,
                               SparsePacking packing) {
    const auto members = static_cast<std::size_t>(rank.size());
    const Stream key = rank.stream();
    const InRound part(all.observer(), all.host(own.rank),
                       part_of(rank, name_of(packing, *v.layout)));
    SparseRound& round =
        all.values.sparse.try_emplace(key, members, v.layout, std::move(packing)).first->second;
    round.enter(static_cast<std::size_t>(rank.place()), std::move(v));

    co_await behind_start_up(all, own, rank.size(), sparse_messages(round, rank));
    Vector mean = round.mean();
    if (round.leave()) {
        all.metrics.count_density(round);
        all.values.sparse.erase(key);
    }
    co_return mean;
}

// The first worker that enters the round draws W of the step, and W is erased when the last worker
// has left, like the values. Several W may exist at once, because distant workers may be in
// different steps.
Task<Vector> plain_neighbor_sum(SharedState& all, WorkerState& own, GroupPtr group, Stream key,
                                Vector v, Bytes size, NeighborWeights weights) {
    const std::vector<int>& of = group->members;
    const std::size_t members = of.size();
    const int me = place_in(all, own, group);
    const MixingPtr mixing =
        all.values.mixings.at(key, members).once([&](const auto&) { return all.mixing_of(own); });
    std::vector<int> from;
    for (const MixingWeight& w : mixing->row(me))
        if (w.node != me) from.push_back(of[static_cast<std::size_t>(w.node)]);
    std::vector<int> to = mixing->listeners(me);
    for (int& listener : to) listener = of[static_cast<std::size_t>(listener)];

    const InRound part(
        all.observer(), all.host(own.rank),
        {.name = "exchange with neighbors", .stream = key, .members = members, .on = &from});
    all.values.vectors.at(key, members).enter(static_cast<std::size_t>(me), std::move(v));
    co_await behind_start_up(all, own, static_cast<int>(members),
                             neighbor_exchange(all.network, own.rank, to, from, key, size));

    const Round<Vector>& round = all.values.vectors.at(key, members);
    Vector sum = Vector::zero_like(round.of(static_cast<std::size_t>(me)));
    for (const MixingWeight& w : mixing->row(me))
        sum += (weights == NeighborWeights::one ? 1 : w.weight) *
               round.of(static_cast<std::size_t>(w.node));
    all.values.vectors.leave(key);
    all.values.mixings.leave(key);
    co_return sum;
}

}  // namespace

Task<> PlainCollectives::exchange(WorkerState& own, const GroupPtr& group, std::string_view name,
                                  CollectiveOfOwn messages) {
    return plain_exchange(all_, own, next_rank(all_, own, group), name, std::move(messages));
}

Task<Vector> PlainCollectives::combine(WorkerState& own, const GroupPtr& group,
                                       std::string_view name, Vector v, CollectiveOfOwn messages,
                                       Form form) {
    return plain_combine(all_, own, next_rank(all_, own, group), name, std::move(v),
                         std::move(messages), std::move(form));
}

Task<Vector> PlainCollectives::reduce_to_first(WorkerState& own, const GroupPtr& group,
                                               std::string_view name, Vector v,
                                               CollectiveOfOwn messages, Form form) {
    return plain_reduce_to_first(all_, own, next_rank(all_, own, group), name, std::move(v),
                                 std::move(messages), std::move(form));
}

Task<Vector> PlainCollectives::mean_gradient(WorkerState& own, const GroupPtr& group, Vector x,
                                             const AllReducePlan& how) {
    return plain_mean_gradient(all_, own, group, std::move(x), how);
}

Task<Vector> PlainCollectives::sparse_mean(WorkerState& own, const GroupPtr& group, SparseVector v,
                                           SparsePacking packing) {
    return plain_sparse_mean(all_, own, next_rank(all_, own, group), std::move(v),
                             std::move(packing));
}

Task<Vector> PlainCollectives::neighbor_sum(WorkerState& own, const GroupPtr& group, Vector v,
                                            Bytes size, NeighborWeights weights) {
    return plain_neighbor_sum(all_, own, group, own.begin_round(*group), std::move(v), size,
                              weights);
}

std::vector<int> PlainCollectives::listeners(const WorkerState& own) const {
    return all_.mixing_of(own)->listeners(own.rank);
}

}  // namespace paceline
