#include "app/questions/explain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/questions/slot_window.hpp"
#include "app/run/memory_parts.hpp"
#include "app/run/nccl_pieces.hpp"
#include "app/run/step_costs.hpp"
#include "app/run/what_if.hpp"

namespace paceline {

namespace {

double step_of(const Metrics& metrics) {
    return metrics.step_time_s.value_or(0);
}

// --- the ladder ---

// Returns the closed form of a mean step over this many gradients per worker, counted as in
// app/run/rated_part.cpp.
std::optional<double> model_of(const Scenario& scenario, double iterations) {
    const double computing = scenario.algorithm.computing;
    const auto steps = static_cast<std::int64_t>(iterations / computing + 1e-6);
    const auto model = model_step_time(scenario, steps);
    if (!model) return std::nullopt;
    return to_seconds(*model) / computing;
}

std::string ends_as(const Metrics& run) {
    return fmt::format("ends as \"{}\"{}{}{}", run.outcome, run.outcome_details.empty() ? "" : ": ",
                       run.outcome_details,
                       run.ended_before_a_step() ? ", before a step was complete" : "");
}

// Returns whether the run has no step time that could be compared.
bool has_no_step(const Metrics& run) {
    return run.failed() || !run.step_time_s;
}

void add_to_part(Explanation& e, Obstacle what, double seconds) {
    const auto found = std::ranges::find(e.parts, what, &Part::what);
    if (found == e.parts.end())
        e.parts.push_back({what, seconds});
    else
        found->seconds += seconds;
}

// Rungs whose run failed are left out. The difference across them belongs to several obstacles, so
// it is booked under none.
void add_ladder(Explanation& e, const std::vector<LadderStep>& ladder,
                const std::vector<Metrics>& runs) {
    bool left_out = false;  // the rung before
    for (std::size_t i = 0; i < ladder.size(); ++i) {
        if (has_no_step(runs[i])) {
            left_out = true;
            e.notes.push_back(fmt::format(
                "the run without {} {}; the cost of {} is not known and is included in \"{}\"",
                name_of(*ladder[i].without), ends_as(runs[i]), name_of(*ladder[i].without),
                name_of(Obstacle::not_attributed)));
            continue;
        }
        Rung rung{ladder[i].without, step_of(runs[i])};
        if (const auto star = with_star_forms(ladder[i].scenario))
            rung.model_s = model_of(*star, runs[i].rated_iterations);
        if (!e.ladder.empty())
            add_to_part(e, left_out ? Obstacle::not_attributed : *rung.without,
                        e.ladder.back().step_s - rung.step_s);
        e.ladder.push_back(rung);
        left_out = false;
    }
}

// Adds the parts that are left when all obstacles have been removed. If the last rung or the run
// that measures coding failed, what is neither compute nor known to be coding need not be idle.
void add_what_is_left(Explanation& e, const Scenario& scenario, const Metrics& last_rung,
                      const Metrics& coding_alone) {
    if (has_no_step(coding_alone))
        e.notes.push_back(
            fmt::format("the run without gradients and updates {}; the cost of coding is not known "
                        "and is included in \"{}\"",
                        ends_as(coding_alone), name_of(Obstacle::not_attributed)));
    const bool known = !has_no_step(last_rung) && !has_no_step(coding_alone);
    const double left = e.ladder.back().step_s;
    const double coding = has_no_step(coding_alone) ? 0 : std::min(step_of(coding_alone), left);
    const double compute = std::min(left - coding, to_seconds(scenario.workload.step()));
    double rest = left - coding - compute;
    if (rest < 1e-9 * left) rest = 0;
    if (rest > 0) add_to_part(e, known ? Obstacle::idle : Obstacle::not_attributed, rest);
    if (coding > 0) e.parts.push_back({Obstacle::coding, coding});
    e.parts.push_back({Obstacle::compute, left - rest - coding});
}

// --- the closed form ---

// Returns whether closed forms leave this obstacle out.
bool is_beyond_closed_forms(Obstacle what) {
    return what < Obstacle::latency || what == Obstacle::core;
}

std::vector<std::string> reasons_for_rest(const Explanation& e, const Scenario& scenario) {
    std::vector<std::string> reasons;
    if (e.check.of_a_star)
        reasons.emplace_back(
            "the closed form assumes a star, all of whose paths are as long as the longest one "
            "here");
    const int n = scenario.cluster.workers;
    if ((n & (n - 1)) != 0)
        reasons.emplace_back(
            "workers leave an exchange at different times when their number is not a power of two, "
            "so steps overlap");
    if (scenario.algorithm.serve || scenario.algorithm.mixing.make)
        reasons.emplace_back(
            "workers do not begin their steps together, as the closed form assumes");
    if (std::ranges::find(e.parts, Obstacle::not_attributed, &Part::what) != e.parts.end())
        reasons.emplace_back(
            "runs without some costs failed, so the size of these costs is not known");
    if (e.steps && *e.steps < 10)
        reasons.emplace_back("with so few steps, the first and the last one weigh heavily");
    return reasons;
}

void add_check(Explanation& e, const Scenario& scenario) {
    const auto known = std::ranges::find_if(e.ladder, [](const Rung& rung) {
        return rung.model_s && (!rung.without || *rung.without < Obstacle::latency);
    });
    if (known == e.ladder.end()) return;
    ClosedFormCheck& check = e.check;
    check.model_s = known->model_s;
    check.of_a_star = e.fabric != "star";
    check.rest_s = e.ladder.front().step_s - *check.model_s;
    for (const Part& part : e.parts) {
        if (!is_beyond_closed_forms(part.what)) continue;
        check.causes.push_back(part);
        check.rest_s -= part.seconds;
    }
    if (std::abs(check.rest_s) > equal_to_closed_form * e.ladder.front().step_s)
        check.about_rest = reasons_for_rest(e, scenario);
}

// --- what next ---

struct Improvement {
    WhatNext what;
    std::optional<Scenario> scenario;
};

// Doubles the number of nodes, if the rest of the scenario permits that.
Improvement with_nodes_doubled(const Study& study, const Point& point,
                               const ExplainOptions& options) {
    Improvement candidate{{"nodes_doubled", "nodes doubled", {}, {}}, {}};
    const auto give_up = [&candidate](std::string why) {
        candidate.what.why_not = std::move(why);
        return candidate;
    };
    Json json = Json::parse(point.resolved);
    Json& cluster = json["cluster"];
    if (cluster.contains("placement"))
        return give_up("\"cluster.placement\" names the nodes of the job");
    const char* const key = cluster.contains("devices") ? "devices" : "nodes";
    cluster[key] = 2 * cluster[key].get<std::int64_t>();
    try {
        Scenario doubled = as_explained(read_scenario(json, study.file, study.sources));
        if (messages_per_step(doubled) > 100.0 * static_cast<double>(options.most_messages))
            return give_up("a step of so many nodes would take minutes to simulate");
        candidate.scenario = std::move(doubled);
    } catch (const ConfigError& error) {
        return give_up(fmt::format("{}: {}", error.path(), error.problem()));
    }
    return candidate;
}

std::vector<Improvement> candidates(const Study& study, const Point& point, const Scenario& base,
                                    const ExplainOptions& options) {
    std::vector<Improvement> all;
    Improvement bandwidth{{"bandwidth_doubled", "bandwidth doubled", {}, {}}, {}};
    Improvement latency{{"latency_halved", "latency halved", {}, {}}, {}};
    if (has_network(base)) {
        bandwidth.scenario = with_bandwidth_times(base, 2);
        latency.scenario = with_latency_times(base, 0.5);
    } else {
        bandwidth.what.why_not = latency.what.why_not = "a single worker sends nothing";
    }
    all.push_back(std::move(bandwidth));
    all.push_back(std::move(latency));
    all.push_back(
        {{"compute_halved", "compute twice as fast", {}, {}}, with_compute_times(base, 0.5)});
    all.push_back(with_nodes_doubled(study, point, options));
    return all;
}

// --- the page's other lines ---

void add_description(Explanation& e, const Study& study, std::size_t number) {
    const Point& point = study.points[number];
    const Scenario& scenario = point.scenario;
    e.file = study.file;
    e.title = study.title;
    e.point = number;
    e.points = study.points.size();
    for (std::size_t a = 0; a < study.axes.size(); ++a)
        e.choice.emplace_back(study.axes[a].path, study.axes[a].names[point.choice[a]]);
    e.algorithm = scenario.algorithm.label;
    e.workload = scenario.workload.name;
    e.memory = {memory_parts(scenario), memory_of_device(scenario)};
    e.fabric = Json::parse(point.resolved)["cluster"]["fabric"]["kind"].get<std::string>();
    e.nodes = scenario.cluster.nodes;
    e.workers = scenario.cluster.workers;
    e.on_the_clock = scenario.training.has_value();
    e.of_steps = scenario.steps();
}

double stage_at(const Scenario& scenario, std::int64_t step) {
    const double per_epoch = scenario.steps_per_epoch();
    return scenario.algorithm.stage(step,
                                    per_epoch > 0 ? static_cast<double>(step) / per_epoch : 0);
}

void add_notes(Explanation& e, const Scenario& scenario, const RunExtent& extent) {
    if (e.on_the_clock)
        e.notes.emplace_back(
            "this point trains; only its timing is explained, without values and without its "
            "target, and densities follow their declared laws");
    if (e.of_steps && extent.steps > *e.of_steps)
        e.notes.push_back(fmt::format(
            "{} steps are explained, to cover whole periods of the algorithm; the point takes {}",
            extent.steps, *e.of_steps));
    if (e.of_steps && extent.steps < *e.of_steps && !extent.time)
        e.notes.push_back(
            fmt::format("the first {} of {} steps are explained", extent.steps, *e.of_steps));
    if (e.of_steps && stage_at(scenario, extent.steps - 1) != stage_at(scenario, *e.of_steps - 1))
        e.notes.emplace_back(
            "later steps belong to another stage (such as after a warm-up) and have other costs");
    else if (e.of_steps && stage_at(scenario, 0) != stage_at(scenario, extent.steps - 1))
        e.notes.emplace_back("these steps belong to several stages; the figures are their means");
    const bool random = has_unlike_nodes(scenario) || has_unsteady_links(scenario) ||
                        scenario.cluster.failures || !scenario.cluster.background.empty();
    if (random)
        e.notes.emplace_back(
            "the parts contain noise, although all runs draw the same random numbers");
    if (e.as_is.deaths)
        e.notes.push_back(
            fmt::format("node failures during the explained steps: {:.0f}", *e.as_is.deaths));
}

// --- all of it ---

// All runs besides the unmodified point.
struct Runs {
    std::vector<LadderStep> ladder;
    std::vector<Metrics> of_ladder;  // the first is the unmodified point
    std::size_t alike = 0;           // the rung with nodes alike
    Metrics communication_alone;
    Metrics coding_alone;
    std::vector<WhatNext> next;
};

Runs run_everything(const Scenario& base, const Metrics& as_is, std::vector<Improvement> next,
                    const ExplainOptions& options) {
    Runs runs;
    runs.ladder = ladder_of(base);
    runs.alike = rung_of_alike_nodes(runs.ladder);
    std::vector<Scenario> scenarios;
    for (const LadderStep& step : runs.ladder) scenarios.push_back(step.scenario);
    // The unmodified point has already been run. Its slot runs communication alone instead.
    scenarios.front() = with_compute_times(runs.ladder[runs.alike].scenario, 0);
    scenarios.push_back(with_compute_times(runs.ladder.back().scenario, 0));
    for (const Improvement& one : next)
        if (one.scenario) scenarios.push_back(*one.scenario);
    std::vector<Metrics> results = run_explained(scenarios, options);

    const auto behind = results.begin() + static_cast<std::ptrdiff_t>(runs.ladder.size());
    runs.communication_alone = std::exchange(results.front(), as_is);
    runs.of_ladder.assign(results.begin(), behind);
    runs.coding_alone = *behind;
    auto result = behind + 1;
    for (Improvement& one : next) {
        if (one.scenario) one.what.run = *result++;
        runs.next.push_back(std::move(one.what));
    }
    return runs;
}

void add_overlap(Explanation& e, const Runs& runs) {
    if (has_no_step(runs.communication_alone))
        e.notes.push_back(
            fmt::format("the run without computing {}; the gain from overlap is not known",
                        ends_as(runs.communication_alone)));
    const Metrics& last = runs.of_ladder.back();
    const Metrics& alike = runs.of_ladder[runs.alike];
    if (has_no_step(last) || has_no_step(alike) || has_no_step(runs.coding_alone) ||
        has_no_step(runs.communication_alone))
        return;
    Overlap overlap;
    overlap.compute_s = step_of(last) - step_of(runs.coding_alone);
    overlap.communication_s = step_of(runs.communication_alone);
    overlap.won_s = overlap.compute_s + overlap.communication_s - step_of(alike);
    e.overlap = overlap;
}

void add_note_on_slots(Explanation& e, const Scenario& scenario) {
    const auto window = binding_slots(scenario);
    if (!window) return;
    e.notes.push_back(fmt::format(
        "the ring's slots are the limit from worker {} to worker {}: {} slots of {} bytes take "
        "{:.3g} ms to send, and the first is granted again after {:.3g} ms, so at most {:.3g} of "
        "the link's {:.3g} Gbps are used; more \"channels\" or a larger \"buffer\" help",
        window->from, window->to, window->slots, window->slice.count,
        1e3 * to_seconds(window->on_the_line), 1e3 * to_seconds(window->returns),
        8e-9 * window->most_bytes_per_s, 8e-9 * window->line_bytes_per_s));
}

// Returns for what NCCL makes this choice, of so many buckets.
std::string named(const NcclPieces& pieces, int buckets) {
    if (buckets == 1)
        return fmt::format("all {} bytes of the gradient at once", pieces.largest.count);
    const std::string sizes =
        pieces.smallest == pieces.largest
            ? fmt::format("{} bytes", pieces.largest.count)
            : fmt::format("{} to {} bytes", pieces.smallest.count, pieces.largest.count);
    return fmt::format("{} of {} buckets, of {}", pieces.count, buckets, sizes);
}

void add_note_on_library(Explanation& e, const Scenario& scenario) {
    const std::vector<NcclPieces> all = nccl_pieces(scenario);
    int buckets = 0;
    for (const NcclPieces& pieces : all) buckets += pieces.count;
    for (const NcclPieces& pieces : all) {
        const NcclChoice& choice = pieces.choice;
        const auto cost_us = [&](bool between) {
            return 1e6 * to_seconds(
                             sum(choice.cost.occupies.of(between), choice.cost.delays.of(between)));
        };
        e.notes.push_back(fmt::format(
            "NCCL chooses {}, {} and {} channel{} for {}, the fastest by its own model: {:.4g} "
            "us{}; here a message costs {:.3g} us inside a machine and {:.3g} us between machines, "
            "in addition to its time on the wire",
            name_of(choice.algorithm), name_of(choice.protocol), choice.channels,
            choice.channels == 1 ? "" : "s", named(pieces, buckets),
            1e6 * to_seconds(choice.estimate), pieces.smallest == pieces.largest ? "" : " at most",
            cost_us(false), cost_us(true)));
    }
}

void add_note_on_noise(Explanation& e) {
    constexpr double much = -0.005;  // of a step
    const double least = much * e.ladder.front().step_s;
    if (std::ranges::any_of(e.parts, [&](const Part& part) { return part.seconds < least; }))
        e.notes.emplace_back("a part is negative: by chance, steps were longer without that cost");
}

}  // namespace

Explanation explain_point(const Study& study, std::size_t number, const ExplainOptions& options) {
    const Point& point = study.points[number];
    Explanation e;
    add_description(e, study, number);
    const Scenario whole = as_explained(point.scenario);
    const RunExtent extent = extent_of(whole, options);
    const Scenario base = cut_to(whole, extent);
    e.steps = extent.steps;
    if (extent.time) e.time_limit_s = to_seconds(*extent.time);

    LinkUse use;
    Scenario as_is = base;
    as_is.interval = point.scenario.interval;
    e.as_is = run_watched(as_is, options, use);
    add_notes(e, whole, extent);
    if (has_no_step(e.as_is)) return e;

    std::vector<Improvement> next = candidates(study, point, base, options);
    for (Improvement& one : next)
        if (one.scenario) one.scenario = cut_to(std::move(*one.scenario), extent);
    const Runs runs = run_everything(base, e.as_is, std::move(next), options);
    add_ladder(e, runs.ladder, runs.of_ladder);
    add_what_is_left(e, base, runs.of_ladder.back(), runs.coding_alone);
    add_overlap(e, runs);
    add_note_on_noise(e);
    add_note_on_slots(e, base);
    add_note_on_library(e, base);
    LinkLoads loads = link_loads(base, e.as_is, use);
    e.kinds = std::move(loads.kinds);
    e.most_loaded = std::move(loads.most_loaded);
    add_check(e, base);
    e.next = runs.next;
    e.verdict = verdict_of(e);
    return e;
}

}  // namespace paceline
