// gTop-k S-SGD: workers exchange their k largest entries along a tree that keeps the k largest of
// every sum.
//
//   r_i  <-  r_i + g_i                                  residual of worker i
//   s_i  <-  the k largest entries of r_i, of the whole gradient; k = floor(rho N), 1 at least
//   G    <-  s_0 (+) s_1 (+) ... (+) s_(n-1)  along a binomial tree:  a (+) b = the k largest
//                                             entries of a + b
//   r_i  <-  0 where s_i was sent and G is not 0        the rest of s_i waits
//   m    <-  beta m + G / n + lambda x,  x <- x - gamma m             (optimizers/momentum.hpp)
//
//   symbol    here                      meaning
//   x, m      self.replicated_model()   model and momentum, equal on all workers
//   r_i       residual                  0 at first
//   rho       density                   in (0, 1]
//
// In round i = 0, 1, ... of the tree, the workers whose number is a multiple of 2^(i+1) take in
// what the worker 2^i behind has; then G is broadcast along the same tree. These are the messages
// of the all-reduce "tree" of 8 k bytes: k values and k positions of 4 bytes each. The exchange
// blocks; nothing overlaps. Selection takes the time of its method, of one tensor; merging is free,
// as in the paper's model. Ties go to the entries that come first. What was dropped on the way of
// an entry that another branch brings into G is lost, as in the released code.
//
// Reductions: at density 1 it is momentum SGD on the mean gradient. Two workers whose largest
// entries are the same are top-k with error feedback.
//
// Source: Shi et al., "A Distributed Synchronous SGD Algorithm with Global Top-k Sparsification",
// ICDCS 2019, and its released code (hclhkbu/gtopkssgd @0edc19b: allreducer.py, and compression.py
// for k), which takes powers of two alone and merges tensors into buckets.
#pragma once

#include <cstdint>

#include "algorithms/compression/sparse/selection.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/rounds/rounds.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

struct GtopKOptions {
    double density = 0.001;  // rho
    SelectionCost selection{};
    MomentumRule rule{};
};

/// Returns the bytes of a message, which holds k of N entries.
Bytes gtop_k_bytes(const GtopKOptions& options, std::int64_t entries);

/// Returns G of what all have entered.
Vector global_top_k(const Round<Vector>& round, std::int64_t k);

Task<> gtop_k(Worker& self, GtopKOptions options);

}  // namespace paceline
