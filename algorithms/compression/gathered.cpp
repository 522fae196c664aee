#include "algorithms/compression/gathered.hpp"

#include <utility>

namespace paceline {

Task<Vector> gather(Worker& self, Vector v, Bytes size, AllGather how, Form form) {
    return self.combine(std::move(v), self.all_gather(size, how), std::move(form));
}

}  // namespace paceline
