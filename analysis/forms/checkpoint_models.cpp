#include "analysis/forms/checkpoint_models.hpp"

#include <cmath>

#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

double between_deaths_s(const CheckpointedRun& run) {
    return to_seconds(run.mean_between) / run.nodes;
}

}  // namespace

Duration young_interval(const CheckpointedRun& run) {
    return from_seconds(std::sqrt(2 * to_seconds(run.write) * between_deaths_s(run)));
}

Duration daly_interval(const CheckpointedRun& run) {
    const double m = between_deaths_s(run);
    const double write = to_seconds(run.write);
    if (write >= 2 * m) return from_seconds(m);
    const double root = std::sqrt(write / (2 * m));
    return from_seconds(2 * m * root * (1 + root / 3 + root * root / 9) - write);
}

// Bisects in units of m: (1 - x) e^(x + c) falls from e^c to 0 as x goes from 0 to 1.
Duration best_interval(const CheckpointedRun& run) {
    const double m = between_deaths_s(run);
    const double c = to_seconds(run.write) / m;
    double below = 0;
    double above = 1;
    for (int i = 0; i < 60; ++i) {
        const double x = (below + above) / 2;
        (elementary::log1p(-x) + x + c > 0 ? below : above) = x;
    }
    return from_seconds(m * below);
}

double expected_segment_s(const CheckpointedRun& run, Duration interval) {
    const double m = between_deaths_s(run);
    const double none_away =
        run.nodes * elementary::log1p(to_seconds(run.mean_repair) / to_seconds(run.mean_between));
    return elementary::expm1(to_seconds(interval + run.write) / m) *
           elementary::exp(to_seconds(run.read) / m + none_away) * m;
}

double useful_share(const CheckpointedRun& run, Duration interval) {
    return to_seconds(interval) / expected_segment_s(run, interval);
}

}  // namespace paceline
