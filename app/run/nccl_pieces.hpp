// What NCCL chooses for the buckets of a gradient, where the algorithm's flat all-reduce is its.
#pragma once

#include <vector>

#include "app/scenario/scenario.hpp"
#include "sim/collectives/plans/nccl.hpp"

namespace paceline {

/// Buckets for which NCCL takes one algorithm and protocol.
struct NcclPieces {
    NcclChoice choice;  // for the largest
    int count = 0;
    Bytes smallest{};
    Bytes largest{};
};

/// Returns them by the first bucket of each kind; nothing where NCCL does not choose.
std::vector<NcclPieces> nccl_pieces(const Scenario& scenario);

}  // namespace paceline
