// The compressed all-reduce of the 1-bit family: a mean of vectors by one bit per entry each way.
//
// compression/one_bit.hpp has the arithmetic. For each buffer of P entries, one after the other, n
// workers, worker j owning chunk j:
//
//   encode       2 passes over P entries                          (compression/coding.hpp)
//   all-to-all   chunk j of the signs to its owner                blocks of P/(8n) bytes
//   all-gather   the scales of the workers                        blocks of 4 bytes
//   owners       n chunks read, then 2 passes over P/n entries:   P + 2 P/n
//   all-gather   the signs of the chunks                          blocks of P/(8n) bytes
//   all-gather   the scales of the chunks                         blocks of 4 bytes
//   decode       1 pass over P entries
//
// A worker sends 2 (n-1) (P/(8n) + 4) bytes in 4 (n-1) messages, by rings and by rounds. All of it
// blocks, and begins when the gradient is complete: nothing overlaps backward. What messages weigh
// is that of the charged layout, cut into buffers of its own. The errors of all owners exist once.
//
// Source: DeepSpeed, runtime/comm/nccl.py (released code). The passes are this project's count.
#pragma once

#include <memory>
#include <string>

#include <Eigen/Core>

#include "algorithms/compression/coding.hpp"
#include "algorithms/compression/one_bit.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

/// Equal on all workers.
struct OneBitPlan {
    OneBitBuffers values;   // of the model that trains
    OneBitBuffers charged;  // what the clock sees
    CodingCost coding;
    std::string name;  // of the owners' errors among what is replicated
};

using OneBitPlanPtr = std::shared_ptr<const OneBitPlan>;

/// Fused into one buffer, or a buffer for each tensor.
OneBitPlanPtr make_one_bit_plan(const Worker& self, bool fused, CodingCost coding,
                                std::string name);

/// A worker's side: its own error.
class OneBitEncoder {
  public:
    OneBitEncoder(OneBitPlanPtr plan, bool has_values);

    /// What is to be exchanged of v; without values none. Changes what is this worker's own.
    [[nodiscard]] Vector encode(const Vector& v);
    [[nodiscard]] const OneBitPlanPtr& plan() const { return plan_; }
    [[nodiscard]] const Eigen::VectorXd& error() const { return error_; }

  private:
    OneBitPlanPtr plan_;
    Eigen::VectorXd error_;
};

/// The compressed mean of what all workers encoded; takes the time of encoding, too.
Task<Vector> one_bit_all_reduce(Worker& self, OneBitPlanPtr plan, Vector encoded);

/// Passes over entries that one call makes of a buffer, times its entries: 4 P + 2 P/n.
std::int64_t one_bit_passes(const OneBitBuffer& buffer, int workers);

}  // namespace paceline
