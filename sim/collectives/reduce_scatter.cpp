#include "sim/collectives/reduce_scatter.hpp"

#include <utility>

#include "sim/collectives/in_rounds.hpp"

namespace paceline {

Task<> ring_reduce_scatter(Rank self, Bytes size) {
    const int n = self.size();
    return in_ring(std::move(self), {.steps = n - 1, .first = n - 1, .size = size});
}

Task<> ring_all_gather_chunks(Rank self, Bytes size) {
    const int n = self.size();
    return in_ring(std::move(self), {.steps = n - 1, .first = 0, .size = size});
}

}  // namespace paceline
