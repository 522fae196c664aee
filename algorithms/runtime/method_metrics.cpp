#include "algorithms/runtime/method_metrics.hpp"

namespace paceline {

void MethodMetrics::count_round(std::size_t asked, std::size_t contributed) {
    clients_.add(static_cast<double>(asked));
    participation_.add(static_cast<double>(contributed) / workers_);
    traffic_of_rounds_ = {};
    for (int rank = 0; rank < workers_; ++rank) {
        traffic_of_rounds_.sent += network_.traffic(rank).sent;
        traffic_of_rounds_.received += network_.traffic(rank).received;
    }
}

void MethodMetrics::count_density(SparseRound& round) {
    const MeasuredDensity measured = round.measure();
    density_sums_.contribution += measured.contribution;
    density_sums_.merged += measured.merged;
    density_sums_.steps += measured.steps;
}

MeasuredDensity MethodMetrics::measured_density() const {
    const std::int64_t steps = density_sums_.steps;
    if (steps == 0) return {};
    const auto n = static_cast<double>(steps);
    return {density_sums_.contribution / n, density_sums_.merged / n, steps};
}

}  // namespace paceline
