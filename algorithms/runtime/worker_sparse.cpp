// The sparse all-reduce of a worker, including values.
#include <utility>

#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

const LayoutPtr& Worker::charged_layout() const {
    const Job& job = shared_.job;
    return job.charged == nullptr ? job.start.layout() : job.charged;
}

bool Worker::stands_in() const {
    return shared_.job.charged != nullptr;
}

Task<Vector> Worker::all_reduce_as(Vector v, const Layout& charged, AllReducePlan how) {
    return all_reduce(std::move(v), how, wire().weigh(charged.entries()));
}

Task<Vector> Worker::sparse_all_reduce(SparseVector v, SparseExchange how, SparsePacking packing) {
    if (tolerates_failures(everybody()))
        return fault_tolerant_sparse_all_reduce(own_.begin_round(*everybody()), std::move(v), how,
                                                std::move(packing));
    return sparse_all_reduce_in(next_rank(everybody()), std::move(v), how, std::move(packing));
}

Task<Vector> Worker::sparse_all_reduce_in(Rank rank, SparseVector v, SparseExchange how,
                                          SparsePacking packing) {
    const auto members = static_cast<std::size_t>(rank.size());
    const auto place = static_cast<std::size_t>(rank.place());
    const Stream key = rank.stream();
    const RoundTimer timer = enter(rank, "sparse all-reduce");
    SparseRound& round =
        shared_.sparse_rounds.try_emplace(key, members, v.layout, std::move(packing)).first->second;
    round.enter(place, std::move(v));

    co_await sparse_messages(round, rank, how);
    Vector mean = round.mean();
    if (round.leave()) {
        shared_.note_density(round);
        shared_.sparse_rounds.erase(key);
    }
    co_return mean;
}

}  // namespace paceline
