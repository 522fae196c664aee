#include "algorithms/runtime/plain_collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/computation.hpp"
#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/start_up.hpp"
#include "sim/collectives/in_rounds.hpp"
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

// Every worker of a job may be in plain_mean_gradients all the time. So it waits in one frame for
// its device and for a ring that runs ahead, and what these have on the stack is not inlined, since
// it would be in the frame.
[[gnu::noinline]] InRound in_next_all_reduce(const SharedState& all, const WorkerState& own,
                                             const Group& group, std::string_view name) {
    return {all.observer(),
            all.host(own.rank),
            {.name = name, .stream = own.next_round(group), .members = group.members.size()}};
}

// The ring that the messages of a member consist of, with nothing before or beside it.
std::optional<RingOfChunks> ring_alone(const Rank& rank, const AllReducePlan& how, Bytes size) {
    const Library& library = rank.library();
    if (library.start_up > Duration::zero() || library.occupies > 0) return std::nullopt;
    return as_ring(how, rank, size);
}

[[gnu::noinline]] bool runs_ahead(const SharedState& all, WorkerState& own, const GroupPtr& group,
                                  const AllReducePlan& how, Bytes size, AheadTicket& ticket) {
    const Rank rank = next_rank(all, own, group);
    const std::optional<RingOfChunks> ring = ring_alone(rank, how, size);
    return ring && enter_ring(rank, *ring, ticket);
}

Task<> ring_of_messages(Rank rank, RingOfChunks ring, AheadTicket& ticket) {
    co_await ring_by_events(rank, ring, ticket);
}

// What of an all-reduce has not run ahead.
[[gnu::noinline]] Task<> by_events(const SharedState& all, WorkerState& own, const GroupPtr& group,
                                   const AllReducePlan& how, const Vector& x, Stream stream,
                                   AheadTicket& ticket) {
    const Bytes size = all.weigh(x);
    const Rank rank(all.network, group, place_in(all, own, group), stream, all.job.library);
    if (const auto ring = ring_alone(rank, how, size)) return ring_of_messages(rank, *ring, ticket);
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

Task<> plain_mean_gradients(SharedState& all, WorkerState& own, const GroupPtr& group,
                            const AllReducePlan& how, std::unique_ptr<StepsByMeans> steps) {
    while (const Vector* const x = steps->begin()) {
        const std::int64_t k = own.gradients;
        const Duration time = gradient_time(all, own);
        {
            const Resource::Lease device = co_await own.device.acquire();
            if (own.checkpoint_due > Duration::zero()) co_await write_due_checkpoint(all, own);
            DeviceUse use(all, own, {Work::Kind::gradient, k}, time);
            do co_await use.rest();
            while (use.goes_on());
            use.end();
        }
        ++own.gradients;
        const Bytes size = all.weigh(*x);
        const Stream stream = own.next_round(*group);
        {
            const InRound part = in_next_all_reduce(all, own, *group, name_of(how, size));
            AheadTicket ticket;
            if (runs_ahead(all, own, group, how, size, ticket)) co_await EndsAhead(ticket);
            if (!ticket.has_ended()) co_await by_events(all, own, group, how, *x, stream, ticket);
        }
        co_await steps->end(x->has_values() ? mean_of_gradients(all, own, *group, *x, stream, k)
                                            : *x);
    }
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

Task<> PlainCollectives::mean_gradients(WorkerState& own, const GroupPtr& group,
                                        const AllReducePlan& how,
                                        std::unique_ptr<StepsByMeans> steps) {
    return plain_mean_gradients(all_, own, group, how, std::move(steps));
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
