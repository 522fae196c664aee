#include "models/step_estimate.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

Duration estimated_step(double macs, std::int64_t batch, double peak_flops, double efficiency) {
    PACELINE_CHECK(macs >= 0, "a net's work is not negative");
    PACELINE_CHECK(batch >= 0, "a batch is not negative");
    PACELINE_CHECK(peak_flops > 0, "a device has a peak");
    PACELINE_CHECK(efficiency > 0, "a device reaches some of its peak");
    const double operations = 3 * 2 * macs * static_cast<double>(batch);
    return from_seconds(operations / peak_flops / efficiency);
}

}  // namespace paceline
