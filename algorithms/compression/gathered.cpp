#include "algorithms/compression/gathered.hpp"

#include <cstddef>
#include <utility>

namespace paceline {

Vector mean_of(const Round<Vector>& round) {
    Vector sum = round.of(0);
    for (std::size_t i = 1; i < round.members(); ++i) sum += round.of(i);
    return std::move(sum) / static_cast<double>(round.members());
}

Task<Vector> gather(Worker& self, Vector v, Bytes size, AllGather how, Form form) {
    return self.combine(std::move(v), self.all_gather(size, how), std::move(form));
}

}  // namespace paceline
