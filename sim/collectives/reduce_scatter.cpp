#include "sim/collectives/reduce_scatter.hpp"

#include <utility>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/in_rounds.hpp"

namespace paceline {

Task<> ring_reduce_scatter(Rank self, Bytes size) {
    const int n = self.size();
    return in_rounds(std::move(self), ring_of_chunks(n, n - 1, size, n - 1));
}

Task<> ring_all_gather_chunks(Rank self, Bytes size) {
    const int n = self.size();
    return in_rounds(std::move(self), ring_of_chunks(n, n - 1, size, 0));
}

}  // namespace paceline
