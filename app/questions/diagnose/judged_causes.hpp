// Causes put into the measured points at values over their ranges, and judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/questions/diagnose/evidence.hpp"
#include "app/questions/diagnose/predictor.hpp"

namespace paceline {

/// Causes at their most plausible values, and how well they explain what was measured.
struct JudgedCause {
    Assumed assumed;                // the causes with their values; none: the scenario as it is
    double evidence = 0;            // ln E
    std::vector<double> predicted;  // ln of each number
    double farthest = 0;            // row, in standard deviations of the noise
};

class CauseJudge {
  public:
    /// Requires that the predictor outlives it.
    CauseJudge(Predictor& predictor, std::vector<DiagnosedPoint> points,
               std::vector<double> logarithms, double noise);

    /// Judges each cause alone, beside those that are given. Those that the scenario refuses are
    /// left out.
    std::vector<JudgedCause> judge(const std::vector<const Cause*>& causes, const Assumed& given);
    /// Judges what is given alone; nothing if the scenario has no such points.
    std::optional<JudgedCause> judge_alone(const Assumed& given);
    /// Returns the same causes with the times of gradients that the step on one machine sets.
    JudgedCause with_compute_as_measured(JudgedCause one);
    /// Returns how far the farthest row of a cause is off if its values go beyond their limits, and
    /// the value with which it is nearest.
    std::optional<JudgedCause> judge_beyond(const Cause& cause);

    [[nodiscard]] const MeasuredRows& measured() const { return measured_; }
    [[nodiscard]] const std::vector<DiagnosedPoint>& points() const { return points_; }
    [[nodiscard]] bool compute_is_measured() const { return compute_row_.has_value(); }

  private:
    // A cause at one value, before it is simulated.
    struct Trying {
        std::size_t cause;  // in the list that is judged
        double at;          // ln of the value
        Assumed assumed;
    };

    [[nodiscard]] static Assumed with(const Assumed& given, const Cause& cause, double at);
    void set_compute(std::vector<Trying>& trying);
    [[nodiscard]] std::vector<std::optional<PredictedRows>> predict(
        const std::vector<Trying>& trying);
    void predict_numbers(std::vector<JudgedCause>& judged);
    std::vector<JudgedCause> judge_grids(const std::vector<const Cause*>& causes,
                                         const Assumed& given,
                                         const std::vector<std::vector<double>>& grids,
                                         bool lawful);

    Predictor& predictor_;
    std::vector<DiagnosedPoint> points_;
    MeasuredRows measured_;
    std::optional<std::size_t> compute_row_;  // which says how long a gradient takes
};

}  // namespace paceline
