// How many messages a step takes. A simulation's own running time grows with this number.
//
// There are n workers, p = 2^m is the largest power of two up to n, and e = n - p
// (the others are folded onto it).
//
//   ring all-reduce              2 n (n-1); with a ring for each of c cards, c times as many
//   recursive doubling           p m + 2 e
//   halving-doubling             2 p m + 2 e
//   tree                         2 (n-1)
//   q parameter servers          2 q n, on the workers' machines 2 q (n-1)
//   hierarchical, g devices      2 n (g-1) + 2 n (n/g - 1)
//   ring, Bruck all-gather       n (n-1),  n ceil(log2 n)
//   sparse recursive doubling    p m + 2 e
//   reduce-scatter, all-to-all   n (n-1)
//   broadcast, reduce            n-1
#pragma once

#include <cstdint>

#include "algorithms/collective/collective.hpp"
#include "algorithms/sparse/dgc.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"

namespace paceline {

std::int64_t all_reduce_messages(const AllReducePlan& plan, int n, Bytes size);
/// The same of what NCCL takes for another operation.
std::int64_t nccl_messages(const Nccl& library, Nccl::Operation operation, int n, Bytes size);
std::int64_t all_gather_messages(AllGather how, int n);
std::int64_t sparse_all_reduce_messages(int n);
std::int64_t collective_messages(const CollectiveOptions& options, int n, Bytes size);
/// Returns the messages of one exchange of DGC or gradient dropping at this density.
std::int64_t sparse_exchange_messages(const DgcOptions& options, const AggregationPlan& aggregation,
                                      const Layout& layout, double density, int n);

}  // namespace paceline
