#include "app/questions/diagnose/trials_that_tell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/questions/calibrate/measured_points.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

Trial collective_trial(const Json& base, const char* operation, const char* words,
                       std::int64_t bytes, int machines) {
    const std::string size = to_string(Bytes{bytes});
    return {fmt::format(fmt::runtime(words), size, machines, machines > 1 ? "s" : ""),
            fmt::format("{}={}:nodes={}:step", operation, size, machines),
            std::make_shared<const Json>(
                collective_scenario(base, {"", operation, bytes, std::nullopt, machines, 1})),
            true};
}

std::vector<Trial> all_trials(const DiagnosedPoint& main) {
    const Json& base = *main.scenario;
    const bool several = main.workers > main.machines;
    std::vector<Trial> trials;
    if (main.machines > 1) trials = step_trials(base, main.machines);
    if (main.machines > 1)
        std::ranges::move(collective_trials(base, main.machines), std::back_inserter(trials));
    if (!several) return trials;
    if (main.has_gradients()) {
        Json alone = base;
        leave_one_device(alone);
        trials.push_back({"the step on one device alone", "devices=1:step",
                          std::make_shared<const Json>(std::move(alone))});
    }
    constexpr auto all_reduce = "an all-reduce of {} on {} node{}";
    trials.push_back(collective_trial(base, "all-reduce", all_reduce, 4'000'000, 1));
    trials.push_back(collective_trial(base, "all-reduce", all_reduce, 256'000'000, 1));
    if (main.machines > 1)
        trials.push_back(collective_trial(base, "all-to-all",
                                          "an all-to-all of {} among all devices of {} node{}",
                                          64'000'000, 2));
    return trials;
}

bool is_same(const DiagnosedPoint& a, const DiagnosedPoint& b) {
    return a.column == b.column && a.slowest_alone == b.slowest_alone && *a.scenario == *b.scenario;
}

}  // namespace

std::vector<DiagnosedTrial> trials_to_tell(const DiagnosedPoint& main, const ScenarioText& scenario,
                                           const std::vector<DiagnosedPoint>& measured) {
    std::vector<DiagnosedTrial> found;
    const auto add = [&](DiagnosedTrial trial) {
        for (const DiagnosedPoint& point : measured)
            if (is_same(point, trial.point)) return;
        found.push_back(std::move(trial));
    };
    for (const Trial& trial : all_trials(main)) {
        try {
            Json json = *trial.scenario;
            if (trial.is_a_collective) take_plan_of(*main.scenario, json);
            DiagnosedPoint point = diagnosed_point(json, scenario);
            point.is_a_collective = trial.is_a_collective;
            add({trial.what, trial.asked, point});
            if (trial.asked != "nodes=1:step" || main.machines < 2) continue;
            point.slowest_alone = true;
            add({"the step of each node alone, and of these the slowest",
                 "nodes=1:which=slowest:step", point});
        } catch (const ConfigError&) {
            continue;  // the scenario has no such point
        }
    }
    if (!main.has_gradients() || main.machines < 2) return found;
    add({"the time of a step in the same run, from its log", "step", main, true});
    DiagnosedPoint rate = main;
    rate.column = "samples_per_s";
    add({"the samples per second of the same run, from its log", "throughput", rate, true});
    return found;
}

double doubt_left(const std::vector<double>& weights, const std::vector<double>& logarithms,
                  double noise) {
    double doubt = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const double apart = (logarithms[i] - logarithms[j]) / noise;
            doubt += 2 * weights[i] * weights[j] * elementary::exp(-apart * apart / 8);
        }
    return doubt;
}

std::optional<std::size_t> trial_that_tells(const std::vector<double>& weights,
                                            const std::vector<ExpectedTrial>& trials,
                                            double noise) {
    if (weights.size() < 2) return std::nullopt;
    const double now = doubt_left(weights, std::vector<double>(weights.size()), noise);
    std::vector<double> doubts;
    for (const ExpectedTrial& trial : trials)
        doubts.push_back(doubt_left(weights, trial.logarithms, noise));
    if (doubts.empty()) return std::nullopt;
    const double least = *std::ranges::min_element(doubts);
    if (least > 0.9 * now) return std::nullopt;
    std::optional<std::size_t> cheapest;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        if (doubts[i] > least + 0.05 * now) continue;
        if (!cheapest || trials[i].device_seconds < trials[*cheapest].device_seconds) cheapest = i;
    }
    return cheapest;
}

}  // namespace paceline
