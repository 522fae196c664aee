// The sparse all-reduce of a worker, with values.
#include <utility>

#include "algorithms/worker.hpp"

namespace paceline {

const LayoutPtr& Worker::charged_layout() const {
    const Job& job = cluster_.job_;
    return job.charged == nullptr ? job.start.layout() : job.charged;
}

Task<Vector> Worker::all_reduce_as(Vector v, const Layout& charged, AllReducePlan how) {
    return all_reduce_in(next_rank(everybody()), std::move(v), how,
                         wire().weigh(charged.entries()));
}

Task<Vector> Worker::sparse_all_reduce(SparseVector v, SparseExchange how, SparsePacking packing) {
    return sparse_all_reduce_in(next_rank(everybody()), std::move(v), how, std::move(packing));
}

Task<Vector> Worker::sparse_all_reduce_in(Rank rank, SparseVector v, SparseExchange how,
                                          SparsePacking packing) {
    const auto members = static_cast<std::size_t>(rank.size());
    const auto place = static_cast<std::size_t>(rank.place());
    const Stream key = rank.stream();
    const InRound here = enter(rank);
    SparseRound& round =
        cluster_.sparse_rounds_.try_emplace(key, members, v.layout, std::move(packing))
            .first->second;
    round.enter(place, std::move(v));

    if (how == SparseExchange::recursive_doubling) {
        const UnionWeight weight = [&round](const Union& merged) {
            return round.union_bytes(merged);
        };
        co_await paceline::sparse_all_reduce(rank, weight);
    } else {
        const BlockWeight weight = [&round](int from) {
            return round.contribution_bytes(static_cast<std::size_t>(from));
        };
        const auto gather =
            how == SparseExchange::all_gather_ring ? AllGather::ring : AllGather::bruck;
        co_await paceline::all_gather(gather, rank, weight);
    }

    Vector mean = round.mean();
    if (round.leave()) {
        const MeasuredDensity measured = round.measure();
        cluster_.density_sums_.contribution += measured.contribution;
        cluster_.density_sums_.merged += measured.merged;
        cluster_.density_sums_.steps += measured.steps;
        cluster_.sparse_rounds_.erase(key);
    }
    co_return mean;
}

MeasuredDensity Cluster::measured_density() const {
    const std::int64_t steps = density_sums_.steps;
    if (steps == 0) return {};
    const auto n = static_cast<double>(steps);
    return {density_sums_.contribution / n, density_sums_.merged / n, steps};
}

}  // namespace paceline
