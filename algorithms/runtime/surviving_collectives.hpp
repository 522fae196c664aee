// Collectives that survive the deaths of members: of a job whose workers die and return while the
// others go on or wait (membership.hpp).
//
// A round is run as an attempt by the members that are present. If one of them dies before all have
// their results, the attempt is void, and the survivors begin another, once they have detected the
// death. An attempt owns its streams: when its last member has let go of it, they are closed, and
// what has not left is taken back.
//
// A sum over neighbors goes on without those that are known to have died: their weights fall to the
// worker itself.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "algorithms/lives/membership.hpp"
#include "algorithms/runtime/collectives.hpp"
#include "algorithms/runtime/plain_collectives.hpp"

namespace paceline {

struct SharedState;

class SurvivingCollectives final : public Collectives {
  public:
    /// Requires that `all` has a membership and outlives this object.
    explicit SurvivingCollectives(SharedState& all) : all_(all), inside_(all) {}

    /// These require that the group is that of all workers.
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
    PlainCollectives inside_;  // among the devices of an island, which die together
};

}  // namespace paceline
