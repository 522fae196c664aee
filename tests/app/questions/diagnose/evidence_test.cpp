// Against integrals in closed form, and against numeric ones.
#include "app/questions/diagnose/evidence.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

namespace paceline {
namespace {

// One row that follows ln v, a normal law of ln v: the evidence is that of the sum of both.
TEST_CASE("evidence: a row that follows the value has the evidence of two normal laws added") {
    std::vector<PredictedRows> line;
    for (int i = -40; i <= 40; ++i) line.push_back({i * 0.25, 0, {i * 0.25}, {}});
    const MeasuredRows measured{{1.0}, 0.5, 0};
    const Judgement found = judge(line, measured, ValueLaw{0, 1, -10, 10});
    const double variance = 0.25 + 1;
    CHECK(found.evidence ==
          doctest::Approx(std::log(0.5 / std::sqrt(variance)) - 1 / (2 * variance)).epsilon(1e-3));
    CHECK(found.at == doctest::Approx(1 / variance).epsilon(0.02));
}

// Marginalized over ln s: two rows share the factor, whose law is wide.
TEST_CASE("evidence: a free factor on computing is integrated out") {
    const PredictedRows predicted{0, 0.1, {0.3, 0.5}, {1, 0.4}};
    const MeasuredRows measured{{0.0, 0.2}, 0.1, 0.7};
    const Judgement found = judge({predicted}, measured, std::nullopt);
    double sum = 0;
    double most = -1e9;
    double best = 0;
    const double step = 1e-4;
    for (double s = -4; s < 4; s += step) {
        const double first = 0.3 + (s - 0.1) * 1 - 0.0;
        const double second = 0.5 + (s - 0.1) * 0.4 - 0.2;
        const double exponent =
            -(first * first + second * second) / (2 * 0.01) - s * s / (2 * 0.49);
        sum += std::exp(exponent) * step / std::sqrt(2 * M_PI * 0.49);
        if (exponent > most) {
            most = exponent;
            best = s;
        }
    }
    CHECK(found.evidence == doctest::Approx(std::log(sum)).epsilon(1e-4));
    CHECK(found.compute == doctest::Approx(best).epsilon(1e-2));
}

TEST_CASE("evidence: shares are as exp of the evidence, and sum to 1") {
    const std::vector<double> shares = shares_of({-1000, -1000 + std::log(3.0)});
    CHECK(shares[0] == doctest::Approx(0.25));
    CHECK(shares[1] == doctest::Approx(0.75));
}

TEST_CASE("evidence: the farthest row is counted in deviations of the noise") {
    CHECK(farthest_row({0.0, 0.3}, {{0.0, 0.0}, 0.1, 0}) == doctest::Approx(3));
}

}  // namespace
}  // namespace paceline
