// The state that a DGC worker keeps between steps, and how it turns a gradient into a message
// (dgc.hpp has the rule).
//
//   conserved, per entry of a compressible tensor, whatever is selected:
//     momentum 0                      everything sent + v  =  sum of the gradients
//     without masking                 everything sent + v  =  sum of the velocities u
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "algorithms/coders/dgc_options.hpp"
#include "algorithms/compression/sparse/sparse_vector.hpp"
#include "algorithms/compression/sparse/top_k.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct DgcMemory {
    Eigen::VectorXd velocity;     // u
    Eigen::VectorXd accumulated;  // v
    RandomStream random;          // where samples start
    TopKScratch scratch;
    std::vector<double> guess{};  // per tensor: guess of the least magnitude sent next
    std::size_t found = 0;        // entries that reached the last guess
};

using DgcMemoryPtr = std::shared_ptr<DgcMemory>;

/// Returns a zero memory for a flat vector with this many entries.
DgcMemory make_dgc_memory(Eigen::Index entries, RandomStream random);

/// g <- min(1, c sqrt(N) / |g|) g, with c = clip. Does nothing if clip is 0.
void clip_locally(double clip, int nodes, Eigen::VectorXd& g);

/// Accumulates g, then removes the entries of the compressible tensors to be sent from the memory
/// and returns them; with `whole`, also all of g on the other tensors. Requires that all sizes
/// match the layout.
SparseVector compress(const DgcOptions& options, const LayoutPtr& layout, double density,
                      bool whole, const Eigen::VectorXd& g, DgcMemory& memory);

}  // namespace paceline
