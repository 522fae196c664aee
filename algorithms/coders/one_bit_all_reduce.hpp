// The compressed all-reduce of the 1-bit family: averages vectors with one bit per entry each way.
//
// compression/one_bit.hpp has the arithmetic. There are n workers, and worker j owns chunk j.
// Buffers are processed one after the other. For each buffer of P entries:
//
//   encode       2 passes over P entries                          (compression/coding.hpp)
//   all-to-all   chunk j of the signs to its owner                blocks of P/(8n) bytes
//   all-gather   the scales of the workers                        blocks of 4 bytes
//   owners       n chunks read, then 2 passes over P/n entries:   P + 2 P/n
//   all-gather   the signs of the chunks                          blocks of P/(8n) bytes
//   all-gather   the scales of the chunks                         blocks of 4 bytes
//   decode       1 pass over P entries
//
// Each worker sends 2 (n-1) (P/(8n) + 4) bytes in 4 (n-1) messages; the all-gathers run on rings,
// the all-to-all grouped or in rounds. The whole exchange blocks. It begins when the gradient is
// complete, so it does not overlap backward. Messages weigh what the charged layout, cut into its
// own buffers, would weigh. The errors of all owners exist once.
//
// Entries can follow the buffers that are not encoded (tensors that a codec leaves out). A dense
// all-reduce averages them when all buffers are through; they take no coding.
//
// Source: DeepSpeed, runtime/comm/nccl.py (released code), whose buffers hold every tensor. The
// passes and the entries behind the buffers are this project's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <Eigen/Core>

#include "algorithms/compression/coding.hpp"
#include "algorithms/compression/one_bit.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/all_to_all.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// How vectors are cut into buffers; equal on all workers.
struct OneBitPlan {
    OneBitBuffers values;   // of the model that trains
    OneBitBuffers charged;  // of the layout that messages and coding are charged for
    CodingCost coding;
    std::string name;  // of the owners' errors in the replicated state

    std::int64_t plain_values = 0;  // entries behind the buffers of the values ...
    Bytes plain_charged{};          // ... what such entries weigh, of those that are charged ...
    AllReducePlan plain{};          // ... and how they are averaged

    AllToAll all_to_all = AllToAll::grouped;
};

using OneBitPlanPtr = std::shared_ptr<const OneBitPlan>;

/// The encoder of one worker, which keeps that worker's error.
class OneBitEncoder {
  public:
    OneBitEncoder(OneBitPlanPtr plan, bool has_values);

    /// Returns what the worker exchanges for v (no values if v has none), and updates the error.
    /// Changes only state of this worker.
    [[nodiscard]] Vector encode(const Vector& v);
    [[nodiscard]] const OneBitPlanPtr& plan() const { return plan_; }

  private:
    OneBitPlanPtr plan_;
    Eigen::VectorXd error_;
};

/// Returns the compressed mean of what all workers encoded, and behind it the mean of the entries
/// that followed. The simulated time includes encoding. `group` holds all workers: everybody, or a
/// communication stream (Worker::group).
Task<Vector> one_bit_all_reduce(Worker& self, OneBitPlanPtr plan, Vector encoded, GroupPtr group);

}  // namespace paceline
