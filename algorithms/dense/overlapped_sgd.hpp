// Dense synchronous SGD that averages the gradient bucket by bucket while backward is still
// running.
//
//   for each bucket i, in the order in which backward completes them:
//       once it is complete and the bucket before has been reduced:  all-reduce it
//   x  <-  momentum_step with (1/n) sum over i of g_i            (optimizers/momentum.hpp)
//
// The updates are those of dense_sgd.hpp; only the timing differs. There is one communication
// stream, so a bucket waits for the one before it. If bucket i is complete at time r_i and its
// all-reduce takes a_i, bucket i has been reduced at
//
//   e_0 = r_0 + a_0,   e_i = max(r_i, e_(i-1)) + a_i
//
// and the exchange of a step ends with the last bucket. That bucket is complete when backward ends,
// so its all-reduce is a tail that nothing hides. Source: Li et al., "PyTorch Distributed", VLDB
// 2020 (buckets of 25 MiB, one communication stream); the order of buckets: Zhang et al.,
// "Poseidon", USENIX ATC 2017.
#pragma once

#include "algorithms/optimizers/momentum.hpp"
#include "sim/collectives/all_reduce_plan.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct OverlappedSgdOptions {
    AllReducePlan all_reduce;
    MomentumRule rule{};
};

/// The buckets are those of the job's timing.
Task<> overlapped_sgd(Worker& self, OverlappedSgdOptions options);

}  // namespace paceline
