// What speeds up steps under a cause: changes of the scenario, each simulated with the cause in it.
#pragma once

#include <vector>

#include "app/questions/diagnose/diagnosis.hpp"
#include "app/questions/diagnose/predictor.hpp"

namespace paceline {

inline constexpr double least_gain = 1.05;  // in samples per second

/// What a scenario with a cause reaches, and what helps it, the best first.
struct AdviceForCause {
    double step_s = 0;
    std::vector<Advice> advice;
};

AdviceForCause advice_for(const DiagnosedPoint& main, const Assumed& assumed, Predictor& predictor);

/// Returns the JSON that, merged into `before` as in RFC 7386, gives `after`.
std::string merge_patch(const Json& before, const Json& after);

}  // namespace paceline
