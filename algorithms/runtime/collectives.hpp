// The collectives of a job's workers, behind one interface with two implementations: plain ones
// (plain_collectives.hpp), and ones that survive the deaths of members (surviving_collectives.hpp).
//
// Members of a group call the collectives of the group in the same order; the k-th calls of all
// members are a round. A call takes its place in that order when it is made, not when its task
// begins. Time and values go together: the messages of a member take the time, and the value of a
// round is formed once, when its messages have brought everything that it is formed from
// (rounds.hpp).
//
// Members are given by their state, and the calls below are those of one member. The state outlives
// the tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "algorithms/rounds/rounds.hpp"
#include "algorithms/rounds/sparse_round.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct WorkerState;

/// Forms the result of a collective from the contributions of all members.
using Form = std::function<Vector(const Round<Vector>&)>;

/// Carries out the messages of one member of a collective, on the stream of `rank` or its second
/// stream.
using CollectiveOfOwn = std::function<Task<>(const Rank& rank)>;

/// How contributions of neighbors are added up: weighted by the row of W, or unweighted.
enum class NeighborWeights : std::uint8_t { of_row, one };

/// What one member does with means of gradients, one after the other.
class StepsByMeans {
  public:
    StepsByMeans() = default;
    StepsByMeans(const StepsByMeans&) = delete;
    StepsByMeans& operator=(const StepsByMeans&) = delete;
    virtual ~StepsByMeans() = default;

    /// Begins the next step. Returns the point of its gradient, which is equal on all members and
    /// stays until the step ends; null if there is no step left.
    virtual const Vector* begin() = 0;
    /// Ends the step, with the mean over the members.
    virtual Task<> end(Vector mean) = 0;
};

class Collectives {
  public:
    Collectives() = default;
    Collectives(const Collectives&) = delete;
    Collectives& operator=(const Collectives&) = delete;
    virtual ~Collectives() = default;

    /// Takes the time of a collective. `name` is a string literal for the observer.
    virtual Task<> exchange(WorkerState& own, const GroupPtr& group, std::string_view name,
                            CollectiveOfOwn messages) = 0;
    /// A collective that v enters and that returns what `form` makes of all contributions; v if it
    /// has no values.
    virtual Task<Vector> combine(WorkerState& own, const GroupPtr& group, std::string_view name,
                                 Vector v, CollectiveOfOwn messages, Form form) = 0;
    /// The same, but only the member in place 0 forms the result and returns it; the others return
    /// v.
    virtual Task<Vector> reduce_to_first(WorkerState& own, const GroupPtr& group,
                                         std::string_view name, Vector v, CollectiveOfOwn messages,
                                         Form form) = 0;
    /// Computes a gradient in each of these steps, and forms the mean over the members. Requires
    /// that `group` outlives the task, and that `how` lives as long as the steps.
    virtual Task<> mean_gradients(WorkerState& own, const GroupPtr& group, const AllReducePlan& how,
                                  std::unique_ptr<StepsByMeans> steps) = 0;
    /// Returns the mean of the sparse v of all members (sparse_round.hpp).
    virtual Task<Vector> sparse_mean(WorkerState& own, const GroupPtr& group, SparseVector v,
                                     SparsePacking packing) = 0;
    /// Returns the sum of what this member and those it listens to have passed, by the mixing of
    /// its step, whose i-th row is that of member i.
    virtual Task<Vector> neighbor_sum(WorkerState& own, const GroupPtr& group, Vector v, Bytes size,
                                      NeighborWeights weights) = 0;
    /// Returns the workers that the next neighbor_sum sends to.
    [[nodiscard]] virtual std::vector<int> listeners(const WorkerState& own) const = 0;
};

}  // namespace paceline
