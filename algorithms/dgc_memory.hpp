// What a worker of DGC keeps from step to step, and what becomes of a gradient before it is sent
// (dgc.hpp has the rule).
//
//   conserved, per entry of a compressible tensor, whatever is selected:
//     momentum 0                      everything sent + v  =  sum of the gradients
//     without masking                 everything sent + v  =  sum of the velocities u
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "algorithms/compression/sparse_vector.hpp"
#include "algorithms/compression/top_k.hpp"
#include "algorithms/dgc.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct DgcMemory {
    Eigen::VectorXd velocity;     // u
    Eigen::VectorXd accumulated;  // v
    RandomStream random;          // where samples begin
    TopKScratch scratch;
    std::vector<double> guess{};  // of the least magnitude that is sent next, for each tensor
    std::size_t found = 0;        // entries that reached the last guess
};

/// Zero, for a flat vector of so many entries.
DgcMemory make_dgc_memory(Eigen::Index entries, RandomStream random);

/// g <- min(1, c sqrt(N) / |g|) g, c = clip; nothing if clip is 0.
void clip_locally(double clip, int nodes, Eigen::VectorXd& g);

/// Accumulates g and takes what is to be sent of the compressible tensors out of the memory;
/// `whole`: with all of g on the other tensors. Requires that all sizes are those of the layout.
SparseVector compress(const DgcOptions& options, const LayoutPtr& layout, double density,
                      bool whole, const Eigen::VectorXd& g, DgcMemory& memory);

}  // namespace paceline
