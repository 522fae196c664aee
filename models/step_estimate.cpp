#include "models/step_estimate.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

double estimated_step_flops(double macs, std::int64_t batch) {
    return 3 * 2 * macs * static_cast<double>(batch);
}

Duration estimated_step(double macs, std::int64_t batch, double peak_flops, double efficiency) {
    PACELINE_CHECK(macs >= 0, "a net's work is not negative");
    PACELINE_CHECK(batch >= 0, "a batch is not negative");
    PACELINE_CHECK(peak_flops > 0, "a device has a peak");
    PACELINE_CHECK(efficiency > 0, "a device reaches some of its peak");
    return from_seconds(estimated_step_flops(macs, batch) / peak_flops / efficiency);
}

}  // namespace paceline
