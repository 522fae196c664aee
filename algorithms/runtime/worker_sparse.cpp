// The sparse all-reduce of a worker, including values.
#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

const LayoutPtr& Worker::charged_layout() const {
    const Job& job = cluster_.job_;
    return job.charged == nullptr ? job.start.layout() : job.charged;
}

Task<Vector> Worker::all_reduce_as(Vector v, const Layout& charged, AllReducePlan how) {
    return all_reduce(std::move(v), how, wire().weigh(charged.entries()));
}

Task<Vector> Worker::sparse_all_reduce(SparseVector v, SparseExchange how, SparsePacking packing) {
    if (tolerates_failures(everybody()))
        return fault_tolerant_sparse_all_reduce(next_stream(*everybody()), std::move(v), how,
                                                std::move(packing));
    return sparse_all_reduce_in(next_rank(everybody()), std::move(v), how, std::move(packing));
}

// Requires that the round outlives it.
Task<> sparse_messages(SparseRound& round, Rank rank, SparseExchange how) {
    if (how == SparseExchange::recursive_doubling) {
        const UnionWeight weight = [&round](const Union& merged) {
            return round.union_bytes(merged);
        };
        co_await sparse_all_reduce(std::move(rank), weight);
    } else {
        const BlockWeight weight = [&round](int from) {
            return round.contribution_bytes(static_cast<std::size_t>(from));
        };
        const auto gather =
            how == SparseExchange::all_gather_ring ? AllGather::ring : AllGather::bruck;
        co_await all_gather(gather, std::move(rank), weight);
    }
}

Task<Vector> Worker::sparse_all_reduce_in(Rank rank, SparseVector v, SparseExchange how,
                                          SparsePacking packing) {
    const auto members = static_cast<std::size_t>(rank.size());
    const auto place = static_cast<std::size_t>(rank.place());
    const Stream key = rank.stream();
    const RoundTimer timer = enter(rank, "sparse all-reduce");
    SparseRound& round =
        cluster_.sparse_rounds_.try_emplace(key, members, v.layout, std::move(packing))
            .first->second;
    round.enter(place, std::move(v));

    co_await sparse_messages(round, rank, how);
    Vector mean = round.mean();
    if (round.leave()) {
        cluster_.note_density(round);
        cluster_.sparse_rounds_.erase(key);
    }
    co_return mean;
}

void Cluster::note_density(SparseRound& round) {
    const MeasuredDensity measured = round.measure();
    density_sums_.contribution += measured.contribution;
    density_sums_.merged += measured.merged;
    density_sums_.steps += measured.steps;
}

MeasuredDensity Cluster::measured_density() const {
    const std::int64_t steps = density_sums_.steps;
    if (steps == 0) return {};
    const auto n = static_cast<double>(steps);
    return {density_sums_.contribution / n, density_sums_.merged / n, steps};
}

}  // namespace paceline
