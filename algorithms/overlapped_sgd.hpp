// Dense synchronous SGD whose gradient is averaged bucket by bucket while backward runs on.
//
//   for each bucket i, in the order in which backward completes them:
//       once it is complete and the bucket before has been reduced:  all-reduce it
//   x  <-  momentum_step with (1/n) sum over i of g_i            (optimizers/momentum.hpp)
//
// The updates are those of dense_sgd.hpp; only the clock differs. Communication is one stream: a
// bucket waits for the one before it. With r_i the time bucket i is complete and a_i that of its
// all-reduce, the exchange of a step ends at
//
//   e_0 = r_0 + a_0,   e_i = max(r_i, e_(i-1)) + a_i
//
// The last bucket is complete when backward ends: its all-reduce is a tail that nothing hides.
// Source: Li et al., "PyTorch Distributed", VLDB 2020 (buckets of 25 MiB, one communication
// stream); the order of buckets: Zhang et al., "Poseidon", USENIX ATC 2017.
#pragma once

#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct OverlappedSgdOptions {
    AllReducePlan all_reduce;
    MomentumRule rule{};
};

/// The size of buckets is that of the job's timing.
Task<> overlapped_sgd(Worker& self, OverlappedSgdOptions options);

}  // namespace paceline
