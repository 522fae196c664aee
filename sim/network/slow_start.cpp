#include "sim/network/slow_start.hpp"

namespace paceline {

bool open_connection(SlowStart& slow_start, int from, int to) {
    const auto pair =
        (std::uint64_t{static_cast<std::uint32_t>(from)} << 32U) | static_cast<std::uint32_t>(to);
    return slow_start.connections.insert(pair).second;
}

Duration lost_to_windows(Bytes first_window, Bytes size, Bandwidth capacity, Duration round_trip) {
    if (capacity.bits_per_second == 0) return {};
    Duration lost{};
    Bytes window = first_window;
    for (Bytes sent; sent + window < size && window / capacity < round_trip; window = 2 * window) {
        lost = sum(lost, round_trip - window / capacity);
        sent += window;
    }
    return lost;
}

}  // namespace paceline
