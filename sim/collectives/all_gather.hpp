// All-gather: every member contributes a block and ends with all blocks. Timing plane only.
//
//   ring    n-1 steps; each passes one block on to the next place.
//                                              (n-1) (L + V/B)
//   Bruck   ceil(log2 n) steps; step i sends the first min(2^i, n - 2^i) blocks held to the place
//           2^i before and takes as many from the place 2^i behind. Any n.
//                                              sum over i of (L + min(2^i, n - 2^i) V/B)
//
// V is the number of bytes per block if all are equal. Otherwise V_p is that of the block of place
// p, and a message weighs as much as the blocks in it. Both methods bring each member (n-1) V
// bytes. Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE Trans. Parallel Distrib. Syst. 8, 1997.
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
/// Returns a literal, such as "ring all-gather".
constexpr std::string_view name_of(AllGather how) {
    return how == AllGather::ring ? "ring all-gather" : "Bruck all-gather";
}
Task<> all_gather(AllGather how, Rank self, Bytes block);

/// Returns the weight of a place's block. Called after that place has begun, and until all members
/// have ended: by then the task of the one that gave it may be gone. So it owns what it needs, or
/// that outlives the run.
using BlockWeight = std::function<Bytes(int place)>;
Task<> all_gather(AllGather how, Rank self, const BlockWeight& block);

}  // namespace paceline
