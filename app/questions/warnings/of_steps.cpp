#include "app/questions/warnings/of_steps.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "app/run/step_costs.hpp"

namespace paceline {

namespace {

// Returns the steps that each worker takes at most, by the stop rules and by what a step computes.
// Returns nothing if there is no such bound, or if workers take unequal numbers of steps.
std::optional<std::int64_t> most_steps(const Scenario& scenario) {
    if (scenario.gradients_of_all()) return std::nullopt;
    std::optional<std::int64_t> most = scenario.steps_of_each();
    if (const Duration step = scenario.workload.step();
        scenario.stop.time && step > Duration::zero())
        most = std::min(most.value_or(std::numeric_limits<std::int64_t>::max()),
                        *scenario.stop.time / step);
    return most;
}

std::string steps_end(std::int64_t steps) {
    return steps == 1 ? "its one step ends" : fmt::format("its {} steps end", steps);
}

double times_less(const Gain& gain) {
    return to_seconds(gain.as_it_is) / to_seconds(gain.otherwise);
}

std::int64_t period_at(const AlgorithmChoice& algorithm, std::int64_t k) {
    return algorithm.period_at ? algorithm.period_at(k) : algorithm.period;
}

}  // namespace

std::string unfinished_period(const Scenario& scenario) {
    const std::optional<std::int64_t> steps =
        scenario.gradients_of_all() ? std::nullopt : scenario.steps_of_each();
    if (!steps || scenario.algorithm.period == 1) return "";
    const std::int64_t whole = whole_steps(scenario, *steps);
    if (whole == *steps || whole <= skipped_steps(scenario)) return "";
    const std::string rated = scenario.skip > 0
                                  ? fmt::format("steps {} to {}", skipped_steps(scenario), whole)
                                  : fmt::format("the first {}", whole);
    return fmt::format(
        "{} within a period of {} steps; step time, bytes per step and speedup cover {}",
        steps_end(*steps), period_at(scenario.algorithm, *steps - 1), rated);
}

std::string no_whole_period(const Scenario& scenario) {
    const std::optional<std::int64_t> steps = most_steps(scenario);
    if (!steps || *steps == 0 || scenario.algorithm.period == 1) return "";
    if (whole_steps(scenario, *steps) > 0 || scenario.skip > 0) return "";
    const std::int64_t period = period_at(scenario.algorithm, *steps - 1);
    return fmt::format(
        "{} before its first period, of {} steps, is over; step time, bytes per step and speedup "
        "differ from those of a longer run; use {} steps or more",
        steps_end(*steps), period, period);
}

std::string no_rated_period(const Scenario& scenario) {
    const std::optional<std::int64_t> steps = most_steps(scenario);
    if (!steps || scenario.skip == 0) return "";
    const std::int64_t skipped = skipped_steps(scenario);
    if (whole_steps(scenario, *steps) > skipped) return "";
    return fmt::format(
        "{} before a whole period follows the steps that \"measure.skip\" leaves out, {} in whole "
        "periods; there will be no step time and no speedup; use {} steps or more",
        steps_end(*steps), skipped, steps_to_whole(scenario, skipped + 1));
}

std::string unfinished_warm_up(const Scenario& scenario) {
    const std::optional<std::int64_t> steps = most_steps(scenario);
    if (!steps || *steps == 0 || !scenario.algorithm.trains) return "";
    if (is_in_last_stage(scenario, rated_steps(scenario, *steps) - 1)) return "";
    return fmt::format(
        "{} within its warm-up, which lasts {} steps; times, bytes and compression_ratio describe "
        "the warm-up",
        steps_end(*steps), begin_of_last_stage(scenario));
}

std::string one_by_one(const Scenario& scenario) {
    constexpr double noteworthy = 1.2;
    if (!scenario.algorithm.fused_step || scenario.cluster.workers == 1) return "";
    const std::size_t tensors = scenario.workload.layout->tensors().size();
    if (tensors < 2) return "";
    const std::optional<Gain> gain = gain_of_fusing(scenario);
    if (!gain)
        return fmt::format(
            "its {} tensors are exchanged one by one; \"fused\": true exchanges them as one",
            tensors);
    const double times = times_less(*gain);
    if (times < noteworthy) return "";
    return fmt::format(
        "its {} tensors are exchanged one by one, {:.3g} s per step by the closed form; fused into "
        "one, with \"fused\": true, {:.3g} s, {:.2g} times less",
        tensors, to_seconds(gain->as_it_is), to_seconds(gain->otherwise), times);
}

std::string flat_over_machines(const Scenario& scenario) {
    constexpr double noteworthy = 1.5;
    const std::optional<Gain> gain = gain_of_leaders(scenario);
    if (!gain) return "";
    const double times = times_less(*gain);
    if (times < noteworthy) return "";
    return fmt::format(
        "its exchange is flat over machines of {} devices, {:.3g} s for a step with an exchange by "
        "the closed form; by machine, with \"machines\": \"leaders\" in its aggregation, {:.3g} s, "
        "{:.2g} times less",
        scenario.cluster.devices_per_node, to_seconds(gain->as_it_is), to_seconds(gain->otherwise),
        times);
}

namespace {

bool has_codec(const AlgorithmChoice& algorithm) {
    if (algorithm.encodes || !algorithm.exchange) return algorithm.encodes;
    const auto* compressor = std::get_if<Compressor>(&algorithm.exchange->codec.coder);
    return compressor == nullptr || !compressor->lossless;
}

}  // namespace

std::string wide_wire(const Scenario& scenario) {
    const Precision precision = scenario.workload.precision;
    if (precision != Precision::fp16 && precision != Precision::bf16) return "";
    if (!scenario.algorithm.wire_is_default || has_codec(scenario.algorithm)) return "";
    if (scenario.algorithm.wire.bytes_per_entry != fp32.bytes_per_entry ||
        scenario.cluster.workers == 1)
        return "";
    const std::string_view name = name_of(precision);
    const std::string now =
        fmt::format("computes in {} and sends 32 bits per number, the default", name);
    const std::string otherwise = "set \"wire\": \"fp32\" if 32 are intended";
    const std::optional<Gain> gain = gain_of_narrow_wire(scenario);
    if (!gain) return fmt::format("{}; \"wire\": \"{}\" sends 16; {}", now, name, otherwise);
    return fmt::format(
        "{}, {:.3g} s per step by the closed form; with 16, \"wire\": \"{}\", {:.3g} s; {}", now,
        to_seconds(gain->as_it_is), name, to_seconds(gain->otherwise), otherwise);
}

std::string more_than_dense(const Scenario& scenario) {
    const AlgorithmChoice& algorithm = scenario.algorithm;
    if (!has_codec(algorithm) || algorithm.mixing.make) return "";
    const std::int64_t k = begin_of_last_stage(scenario);
    const auto ratio = compression_ratio(scenario, k, k + period_at(algorithm, k));
    if (!ratio || *ratio >= 1) return "";
    const double dense = static_cast<double>(fp32.weigh(scenario.workload.layout->entries()).count);
    return fmt::format(
        "what it sends for a gradient is {:.3g} MB, {:.2g} times as much as the gradient itself "
        "({:.3g} MB); a lower rank or density, or no codec, sends less",
        dense / *ratio * 1e-6, 1 / *ratio, dense * 1e-6);
}

}  // namespace paceline
