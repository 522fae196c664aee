// Collectives of a job whose workers all take part from beginning to end, or that restarts as a
// whole when one of them dies.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "algorithms/runtime/collectives.hpp"

namespace paceline {

struct SharedState;

class PlainCollectives final : public Collectives {
  public:
    /// Requires that `all` outlives this object.
    explicit PlainCollectives(SharedState& all) : all_(all) {}

    Task<> exchange(WorkerState& own, const GroupPtr& group, std::string_view name,
                    CollectiveOfOwn messages) override;
    Task<Vector> combine(WorkerState& own, const GroupPtr& group, std::string_view name, Vector v,
                         CollectiveOfOwn messages, Form form) override;
    Task<Vector> reduce_to_first(WorkerState& own, const GroupPtr& group, std::string_view name,
                                 Vector v, CollectiveOfOwn messages, Form form) override;
    Task<> mean_gradients(WorkerState& own, const GroupPtr& group, const AllReducePlan& how,
                          std::unique_ptr<StepsByMeans> steps) override;
    Task<Vector> sparse_mean(WorkerState& own, const GroupPtr& group, SparseVector v,
                             SparsePacking packing) override;
    Task<Vector> neighbor_sum(WorkerState& own, const GroupPtr& group, Vector v, Bytes size,
                              NeighborWeights weights) override;
    [[nodiscard]] std::vector<int> listeners(const WorkerState& own) const override;

  private:
    SharedState& all_;
};

}  // namespace paceline
