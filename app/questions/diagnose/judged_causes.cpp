#include "app/questions/diagnose/judged_causes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr int values_of_a_grid = 10;
constexpr double compute_deviation = 0.35;  // of ln of what a scenario says of gradients' times
constexpr double least_compute = 0.02;      // of the stated time
constexpr double near = 0.12;               // of ln of a value: simulated again around the best one

std::vector<double> spread(double from, double to, int values) {
    std::vector<double> all;
    for (int i = 0; i < values; ++i) all.push_back(from + (to - from) * i / (values - 1));
    return all;
}

std::vector<double> grid_of(const Cause& cause) {
    if (!cause.quantity) return {0};
    return spread(cause.usual.from, cause.usual.to, values_of_a_grid);
}

}  // namespace

CauseJudge::CauseJudge(Predictor& predictor, std::vector<DiagnosedPoint> points,
                       std::vector<double> logarithms, double noise)
    : predictor_(predictor),
      points_(std::move(points)),
      measured_{std::move(logarithms), noise, 0} {
    const bool on_several = std::ranges::any_of(
        points_, [](const DiagnosedPoint& point) { return point.machines > 1; });
    for (std::size_t i = 0; i < points_.size() && !compute_row_; ++i)
        if (points_[i].tells_compute() && (on_several || points_[i].workers == 1)) compute_row_ = i;
    if (compute_row_) measured_.compute_deviation = compute_deviation;
}

Assumed CauseJudge::with(const Assumed& given, const Cause& cause, double at) {
    Assumed assumed = given;
    assumed.causes.emplace_back(&cause, elementary::exp(at));
    return assumed;
}

// Sets the factor on the times of gradients with which the step on one machine is as measured: what
// else it takes stays as it is.
void CauseJudge::set_compute(std::vector<Trying>& trying) {
    if (!compute_row_) return;
    const DiagnosedPoint& point = points_[*compute_row_];
    DiagnosedPoint step = point;
    step.column = "step_time_s";
    std::vector<Predictor::Asked> asked;
    for (Trying& one : trying) {
        one.assumed.compute = 0;
        asked.emplace_back(&point, one.assumed);
        asked.emplace_back(&step, one.assumed);
    }
    const std::vector<std::optional<double>> found = predictor_.logarithms(asked);
    for (std::size_t i = 0; i < trying.size(); ++i) {
        const auto column = found[2 * i];
        const auto seconds = found[2 * i + 1];
        if (!column || !seconds) continue;
        const double way = point.column == "step_time_s" ? 1 : -1;
        const double off = way * (measured_.logarithms[*compute_row_] - *column);
        const double rest = elementary::exp(*seconds) - point.gradient_s;
        const double measured = elementary::exp(*seconds + off);
        trying[i].assumed.compute =
            elementary::log(std::max(least_compute, (measured - rest) / point.gradient_s));
    }
}

std::vector<std::optional<PredictedRows>> CauseJudge::predict(const std::vector<Trying>& trying) {
    const double step = compute_row_ ? 1.5 * measured_.noise : 0;
    std::vector<Predictor::Asked> asked;
    for (const Trying& one : trying)
        for (const DiagnosedPoint& point : points_)
            for (const double way : {-step, step}) {
                Assumed moved = one.assumed;
                moved.compute += point.has_gradients() ? way : 0;
                asked.emplace_back(&point, std::move(moved));
            }
    const std::vector<std::optional<double>> found = predictor_.logarithms(asked);
    std::vector<std::optional<PredictedRows>> all;
    std::size_t next = 0;
    for (const Trying& one : trying) {
        PredictedRows rows{one.at, one.assumed.compute, {}, {}};
        bool has_all = true;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const auto low = found[next++];
            const auto high = found[next++];
            has_all = has_all && low && high;
            rows.rows.push_back((low.value_or(0) + high.value_or(0)) / 2);
            rows.slopes.push_back(step > 0 ? (high.value_or(0) - low.value_or(0)) / (2 * step) : 0);
        }
        all.push_back(has_all ? std::optional(std::move(rows)) : std::nullopt);
    }
    return all;
}

std::vector<JudgedCause> CauseJudge::judge_grids(const std::vector<const Cause*>& causes,
                                                 const Assumed& given,
                                                 const std::vector<std::vector<double>>& grids,
                                                 bool lawful) {
    std::vector<std::vector<PredictedRows>> predicted(causes.size());
    const auto simulate = [&](std::vector<Trying> trying) {
        set_compute(trying);
        std::vector<std::optional<PredictedRows>> found = predict(trying);
        for (std::size_t i = 0; i < trying.size(); ++i)
            if (found[i]) predicted[trying[i].cause].push_back(std::move(*found[i]));
        for (auto& rows : predicted) std::ranges::sort(rows, {}, &PredictedRows::at);
    };
    const auto law_of = [&](const Cause& cause) {
        return lawful && cause.quantity ? std::optional(cause.usual) : std::nullopt;
    };
    std::vector<Trying> trying;
    for (std::size_t i = 0; i < causes.size(); ++i)
        for (const double at : grids[i]) trying.push_back({i, at, with(given, *causes[i], at)});
    simulate(std::move(trying));
    trying.clear();
    for (std::size_t i = 0; i < causes.size(); ++i) {
        if (predicted[i].size() < 2) continue;
        const double best = paceline::judge(predicted[i], measured_, law_of(*causes[i])).at;
        for (const double at : {best - near, best, best + near})
            if (at > predicted[i].front().at && at < predicted[i].back().at)
                trying.push_back({i, at, with(given, *causes[i], at)});
    }
    simulate(std::move(trying));
    std::vector<JudgedCause> judged;
    for (std::size_t i = 0; i < causes.size(); ++i) {
        if (predicted[i].empty()) continue;
        const Judgement best = paceline::judge(predicted[i], measured_, law_of(*causes[i]));
        JudgedCause& one = judged.emplace_back();
        one.assumed = with(given, *causes[i], best.at);
        one.assumed.compute = best.compute;
        one.evidence = best.evidence;
    }
    predict_numbers(judged);
    return judged;
}

std::vector<JudgedCause> CauseJudge::judge(const std::vector<const Cause*>& causes,
                                           const Assumed& given) {
    std::vector<std::vector<double>> grids;
    for (const Cause* cause : causes) grids.push_back(grid_of(*cause));
    return judge_grids(causes, given, grids, true);
}

std::optional<JudgedCause> CauseJudge::judge_alone(const Assumed& given) {
    std::vector<Trying> trying{{0, 0, given}};
    set_compute(trying);
    const auto predicted = predict(trying);
    if (!predicted.front()) return std::nullopt;
    const Judgement best = paceline::judge({*predicted.front()}, measured_, std::nullopt);
    JudgedCause alone{given, best.evidence, {}, 0};
    alone.assumed.compute = best.compute;
    std::vector<JudgedCause> all{alone};
    predict_numbers(all);
    return all.front();
}

JudgedCause CauseJudge::with_compute_as_measured(JudgedCause one) {
    std::vector<Trying> trying{{0, 0, one.assumed}};
    set_compute(trying);
    one.assumed = trying.front().assumed;
    std::vector<JudgedCause> all{std::move(one)};
    predict_numbers(all);
    return all.front();
}

// Simulates the numbers with causes at the values that were found.
void CauseJudge::predict_numbers(std::vector<JudgedCause>& judged) {
    std::vector<Predictor::Asked> asked;
    for (const JudgedCause& one : judged)
        for (const DiagnosedPoint& point : points_) asked.emplace_back(&point, one.assumed);
    const std::vector<std::optional<double>> found = predictor_.logarithms(asked);
    std::size_t next = 0;
    for (JudgedCause& one : judged) {
        one.predicted.clear();
        for (std::size_t i = 0; i < points_.size(); ++i)
            one.predicted.push_back(found[next++].value_or(0));
        one.farthest = farthest_row(one.predicted, measured_);
    }
}

std::optional<JudgedCause> CauseJudge::judge_beyond(const Cause& cause) {
    if (!cause.quantity || cause.limit.empty()) return std::nullopt;
    const std::vector<double> grid =
        spread(cause.usual.to, cause.usual.to + elementary::log(cause.beyond), values_of_a_grid);
    std::vector<JudgedCause> judged = judge_grids({&cause}, {}, {grid}, false);
    if (judged.empty()) return std::nullopt;
    return judged.front();
}

}  // namespace paceline
