#include "app/questions/diagnose/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr int steps_between = 32;  // of the sum, between two simulated values

// Returns what is predicted between two values.
PredictedRows between(const PredictedRows& a, const PredictedRows& b, double t) {
    PredictedRows mean = a;
    const auto mix = [t](double left, double right) { return left + t * (right - left); };
    mean.at = mix(a.at, b.at);
    mean.compute = mix(a.compute, b.compute);
    for (std::size_t i = 0; i < a.rows.size(); ++i) mean.rows[i] = mix(a.rows[i], b.rows[i]);
    for (std::size_t i = 0; i < a.slopes.size(); ++i)
        mean.slopes[i] = mix(a.slopes[i], b.slopes[i]);
    return mean;
}

// Integrates over ln s, with x = ln s - compute: the exponent is a quadratic of x.
Judgement at_one_value(const PredictedRows& predicted, const MeasuredRows& measured) {
    const double weight = 1 / (measured.noise * measured.noise);
    double square = 0;
    double mixed = 0;
    double curve = 0;
    for (std::size_t i = 0; i < predicted.rows.size(); ++i) {
        const double residual = predicted.rows[i] - measured.logarithms[i];
        const double slope = predicted.slopes.empty() ? 0 : predicted.slopes[i];
        square += weight * residual * residual;
        mixed += weight * residual * slope;
        curve += weight * slope * slope;
    }
    if (measured.compute_deviation == 0) return {predicted.at, predicted.compute, -square / 2};
    const double deviation = measured.compute_deviation;
    const double law = 1 / (deviation * deviation);
    square += law * predicted.compute * predicted.compute;
    mixed += law * predicted.compute;
    curve += law;
    const double x = -mixed / curve;
    return {predicted.at, predicted.compute + x,
            (mixed * mixed / curve - square - elementary::log(curve / law)) / 2};
}

// Returns ln of the sum of exp.
double ln_sum(const std::vector<double>& logarithms) {
    const double most = *std::ranges::max_element(logarithms);
    double sum = 0;
    for (const double one : logarithms) sum += elementary::exp(one - most);
    return most + elementary::log(sum);
}

}  // namespace

Judgement judge(const std::vector<PredictedRows>& predicted, const MeasuredRows& measured,
                const std::optional<ValueLaw>& law) {
    PACELINE_CHECK(!predicted.empty(), "a cause is judged by what it predicts");
    if (predicted.size() == 1) return at_one_value(predicted.front(), measured);
    std::vector<double> weights;  // ln of p(v) dv
    std::vector<double> products;
    Judgement best;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < predicted.size(); ++i) {
        const double width = predicted[i + 1].at - predicted[i].at;
        if (width <= 0) continue;
        for (int j = 0; j < steps_between; ++j) {
            const double t = (j + 0.5) / steps_between;
            const Judgement here =
                at_one_value(between(predicted[i], predicted[i + 1], t), measured);
            const double z = law ? (here.at - law->mean) / law->deviation : 0;
            weights.push_back(elementary::log(width / steps_between) - z * z / 2);
            products.push_back(weights.back() + here.evidence);
            if (const double density = here.evidence - z * z / 2; density > most) {
                most = density;
                best = here;
            }
        }
    }
    best.evidence = ln_sum(products) - ln_sum(weights);
    return best;
}

std::vector<double> shares_of(const std::vector<double>& evidence) {
    if (evidence.empty()) return {};
    const double all = ln_sum(evidence);
    std::vector<double> shares;
    for (const double one : evidence) shares.push_back(elementary::exp(one - all));
    return shares;
}

double farthest_row(const std::vector<double>& rows, const MeasuredRows& measured) {
    double farthest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        farthest = std::max(farthest, std::abs(rows[i] - measured.logarithms[i]) / measured.noise);
    return farthest;
}

}  // namespace paceline
