#include "algorithms/exchange/gathered.hpp"

#include <utility>

namespace paceline {

Task<Vector> gather(Worker& self, Vector v, Bytes size, AllGather how, Form form) {
    const CollectiveOfOwn messages = [size, how](const Rank& rank) {
        return all_gather(how, rank, size);
    };
    return self.combine(std::move(v), messages, std::move(form));
}

}  // namespace paceline
