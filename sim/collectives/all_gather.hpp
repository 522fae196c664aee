// All-gather: every member contributes a block and ends with the blocks of all. Timing plane only.
//
//   ring    n-1 steps; each passes one block on to the next place.
//                                              (n-1) (L + V/B)
//   Bruck   ceil(log2 n) steps; step i sends the first min(2^i, n - 2^i) blocks held to the place
//           2^i before and takes as many from the place 2^i behind. Any n.
//                                              sum over i of (L + min(2^i, n - 2^i) V/B)
//
// V bytes per block, equal for all; or V_p for the block of place p, and a message weighs what the
// blocks in it do. Both bring each member (n-1) V bytes. Bruck, Ho, Kipnis, Upfal,
// Weathersby, IEEE Trans. Parallel Distrib. Syst. 8, 1997.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

Task<> ring_all_gather(Rank self, Bytes block);
Task<> bruck_all_gather(Rank self, Bytes block);

enum class AllGather : std::uint8_t { ring, bruck };
/// A literal: "ring all-gather".
constexpr std::string_view name_of(AllGather how) {
    return how == AllGather::ring ? "ring all-gather" : "Bruck all-gather";
}
Task<> all_gather(AllGather how, Rank self, Bytes block);

/// What the block of a place weighs; asked after that place has begun. Must outlive the task.
using BlockWeight = std::function<Bytes(int place)>;
Task<> all_gather(AllGather how, Rank self, const BlockWeight& block);

}  // namespace paceline
