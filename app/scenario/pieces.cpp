#include "app/scenario/pieces.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

std::int64_t most_pieces(const AlgorithmChoice& algorithm, const Layout& layout) {
    const Bytes gradient = algorithm.wire.weigh(layout.entries());
    std::int64_t pieces = 1;
    if (algorithm.bucket)
        pieces = std::min<std::int64_t>(std::ssize(layout.tensors()),
                                        gradient.count / algorithm.bucket->count + 1);
    if (algorithm.exchange && algorithm.exchange->schedule.partition) {
        const Bytes entry = algorithm.wire.weigh(1);
        const Bytes partition = std::max(*algorithm.exchange->schedule.partition, entry);
        pieces += gradient.count / partition.count;
    }
    return pieces;
}

void check_pieces(const AlgorithmChoice& choice, const Layout& layout, int workers,
                  const Place& algorithm) {
    constexpr std::int64_t most = 10'000'000;
    const std::int64_t pieces = most_pieces(choice, layout);
    if (pieces <= most / workers) return;
    Place place = algorithm;
    for (const char* key : {"schedule", "partition"})
        if (place.json->is_object() && place.json->contains(key))
            place = place.child(key, place.json->at(key));
    place.refuse(
        fmt::format("cuts a step into {} pieces for each of {} workers, and at most {} pieces of "
                    "all workers can be simulated; give larger ones",
                    pieces, workers, most));
}

}  // namespace paceline
