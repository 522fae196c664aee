#include "algorithms/optimizers/rate_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

// Converts a share of the run to steps. Rounds away floating-point error: 0.55 of 100 steps must be
// 55, although the product is slightly larger.
double in_steps(double share, double steps) {
    const double product = share * steps;
    const double whole = std::round(product);
    return std::abs(product - whole) < 1e-9 * steps ? whole : product;
}

double shape_at(const Schedule& schedule, double k, double steps, double warm_steps) {
    switch (schedule.decay) {
        case Decay::constant:
            return 1;
        case Decay::step:
            return elementary::pow(schedule.factor, static_cast<double>(std::ranges::count_if(
                                                        schedule.milestones, [&](double share) {
                                                            return in_steps(share, steps) <= k;
                                                        })));
        case Decay::cosine:
            if (k < warm_steps) return 1;
            return (1 +
                    elementary::cos(std::numbers::pi * (k - warm_steps) / (steps - warm_steps))) /
                   2;
    }
    return 1;
}

}  // namespace

double learning_rate_at(const Schedule& schedule, std::int64_t k, std::int64_t steps,
                        std::int64_t batch) {
    const auto total = static_cast<double>(steps);
    const auto here = static_cast<double>(std::min(k, steps - 1));
    const double warm_steps = std::floor(in_steps(schedule.warm_up, total));
    double gamma = schedule.learning_rate * shape_at(schedule, here, total, warm_steps);
    if (here < warm_steps) gamma *= (here + 1) / warm_steps;
    if (schedule.reference_batch > 0)
        gamma *= static_cast<double>(batch) / static_cast<double>(schedule.reference_batch);
    return gamma;
}

}  // namespace paceline
