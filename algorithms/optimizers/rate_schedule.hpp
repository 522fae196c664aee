// How the learning rate changes over a run of T steps.
//
//   gamma_k  =  gamma (B / B_ref) warm(k) shape(k),   k = 0 .. T-1
//
//   warm(k)  =  (k+1) / w  for k < w, then 1                  linear warm-up over w steps
//   shape    =  1                                             constant
//            =  factor^(milestones at or before k)            step: milestones as shares of T
//            =  (1 + cos(pi (k - w) / (T - w))) / 2           cosine, from the end of the warm-up
//
// B is the batch of a step over all workers, and B_ref the batch for which gamma was tuned (linear
// scaling; Goyal et al., arXiv 1706.02677, 2017). Without B_ref there is no scaling. Every gamma_k
// is nonzero, so methods may divide a difference of models by it. Cosine: Loshchilov, Hutter, ICLR
// 2017.
#pragma once

#include <cstdint>
#include <vector>

namespace paceline {

enum class Decay : std::uint8_t { constant, step, cosine };

struct Schedule {
    double learning_rate = 0.1;  // gamma
    Decay decay = Decay::constant;
    double warm_up = 0;                // share of T, in [0, 1)
    std::vector<double> milestones{};  // shares of T, for `step`
    double factor = 0.1;               // for `step`
    std::int64_t reference_batch = 0;  // B_ref; 0: no scaling
};

/// Returns the learning rate of step k out of `steps`, for `batch` samples per step over all
/// workers. Requires k >= 0; for k >= `steps` it is the rate of the last step.
double learning_rate_at(const Schedule& schedule, std::int64_t k, std::int64_t steps,
                        std::int64_t batch);

}  // namespace paceline
