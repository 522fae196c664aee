#include "sim/network/loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/engine/check.hpp"

namespace paceline {

Bandwidth loss_bound(double loss, Duration round_trip) {
    PACELINE_CHECK(loss >= 0 && loss < 1, "a loss is a share in [0, 1)");
    constexpr Bandwidth unbounded{std::numeric_limits<std::int64_t>::max()};
    if (loss == 0 || round_trip <= Duration::zero()) return unbounded;
    const double segment_bits = 8 * static_cast<double>(segment_payload.count);
    const double bits_per_second =
        segment_bits / to_seconds(round_trip) * std::sqrt(1.5) / std::sqrt(loss);
    if (bits_per_second >= static_cast<double>(unbounded.bits_per_second)) return unbounded;
    return {std::max<std::int64_t>(1, std::llround(bits_per_second))};
}

}  // namespace paceline
