#include "tests/fuzz/judge.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/questions/check_text.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/run/table.hpp"
#include "app/scenario/memory_estimate.hpp"
#include "app/scenario/study.hpp"
#include "app/study/baseline.hpp"
#include "app/study/manifest.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "tests/fuzz/deadline.hpp"
#include "tests/fuzz/left_files.hpp"

namespace paceline {

namespace {

constexpr Bytes most_memory{std::int64_t{256} << 20};
constexpr double most_messages = 20'000;
constexpr std::int64_t most_entries = 20'000;
constexpr std::int64_t most_batch = 256;
constexpr std::int64_t most_steps = 6;
constexpr std::uint64_t most_resumptions = 300'000;  // without progress

void cut(Scenario& scenario, std::int64_t most) {
    std::int64_t& steps = scenario.stop.iterations.emplace(
        scenario.stop.iterations.value_or(std::numeric_limits<std::int64_t>::max()));
    steps = std::min(steps, most);
    for (Scenario& job : scenario.other_jobs) cut(job, most);
}

bool is_small(const Scenario& scenario) {
    if (scenario.cluster.workers > 300 || estimated_memory(scenario) > most_memory) return false;
    if (messages_of_run(scenario).value_or(0) > most_messages) return false;
    for (const Scenario& job : scenario.other_jobs)
        if (!is_small(job)) return false;
    if (!scenario.training) return true;
    const Training& training = *scenario.training;
    return training.model.layout->entries() <= most_entries &&
           *scenario.workload.step_batch() <= most_batch &&
           training.data.shape.train <= 4 * most_batch &&
           training.data.shape.test <= 4 * most_batch;
}

std::string finite(std::string_view name, std::optional<double> number) {
    if (!number || (std::isfinite(*number) && *number >= 0)) return {};
    return fmt::format("{} is {}", name, *number);
}

bool nearly(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance * std::max({1e-300, std::abs(a), std::abs(b)});
}

std::string fault_of_numbers(const Metrics& m) {
    const std::vector<std::pair<std::string_view, std::optional<double>>> numbers{
        {"iterations", m.iterations},
        {"epochs", m.epochs},
        {"sim_time_s", m.sim_time_s},
        {"step_time_s", m.step_time_s},
        {"compute_s", m.compute_s},
        {"model_step_time_s", m.model_step_time_s},
        {"bytes_sent_per_node_per_step", m.bytes_sent_per_node_per_step},
        {"bytes_received_per_node_per_step", m.bytes_received_per_node_per_step},
        {"compression_ratio", m.compression_ratio},
        {"samples_per_s", m.samples_per_s},
        {"speedup", m.speedup},
        {"efficiency", m.efficiency},
        {"density", m.density},
        {"union_density", m.union_density},
        {"staleness", m.staleness},
        {"participation", m.participation},
        {"rounds", m.rounds},
        {"bytes_sent_per_client_per_round", m.bytes_sent_per_client_per_round},
        {"bytes_received_per_client_per_round", m.bytes_received_per_client_per_round},
        {"deaths", m.deaths},
        {"total_sent_gb", m.total_sent_gb},
        {"total_received_gb", m.total_received_gb},
        {"cost", m.cost},
        {"time_to_target_s", m.time_to_target_s},
        {"sent_gb_to_target", m.sent_gb_to_target},
        {"memory_gb", m.memory_gb},
        {"algbw_gb_per_s", m.algbw_gb_per_s},
        {"busbw_gb_per_s", m.busbw_gb_per_s},
        {"slowdown", m.slowdown},
        {"activations_gb", m.activations_gb},
        {"memory_share", m.memory_share},
        {"tokens_per_s", m.tokens_per_s},
        {"mfu", m.mfu},
        {"device_hours", m.device_hours},
        {"energy_kwh", m.energy_kwh},
        {"cost_to_target", m.cost_to_target},
        {"energy_to_target_kwh", m.energy_to_target_kwh}};
    for (const auto& [name, number] : numbers)
        if (std::string fault = finite(name, number); !fault.empty()) return fault;
    return {};
}

// The quantiles over workers rise, and are those of numbers that add up to the totals.
std::string fault_of_spread(const Metrics& m) {
    if (!m.spread) return {};
    constexpr double tolerance = 1e-9;
    for (const Quantiles& q :
         {m.spread->sent_gb, m.spread->received_gb, m.spread->computing_s, m.spread->transfer_s})
        if (!(q.p10 >= -tolerance && q.p10 <= q.p50 && q.p50 <= q.p90 && q.p90 <= q.max))
            return fmt::format("quantiles over workers are {}, {}, {} and {}", q.p10, q.p50, q.p90,
                               q.max);
    const double most = m.spread->sent_gb.max;
    const double sent = m.total_sent_gb.value_or(0);
    if (most > sent + tolerance || most * m.devices < sent - tolerance)
        return fmt::format("one of {} workers sends {} GB, and all send {} GB", m.devices, most,
                           sent);
    const double busy = m.spread->computing_s.max;
    if (busy > m.sim_time_s * (1 + tolerance) + tolerance)
        return fmt::format("a worker computes {} s of {} s", busy, m.sim_time_s);
    return {};
}

std::string fault_of_shares(const Metrics& m) {
    constexpr double tolerance = 1e-9;
    const std::vector<std::pair<std::string_view, std::optional<double>>> shares{
        {"waiting_stragglers_share", m.waiting_stragglers_share},
        {"waiting_network_share", m.waiting_network_share},
        {"waiting_dead_share", m.waiting_dead_share},
        {"away_share", m.away_share},
        {"checkpoint_share", m.checkpoint_share},
        {"undone_share", m.undone_share},
        {"goodput", m.goodput},
        {"participation", m.participation},
        {"density", m.density},
        {"union_density", m.union_density},
        {"test_accuracy", m.test_accuracy},
        {"test_accuracy_local_mean", m.test_accuracy_local_mean},
        {"test_accuracy_local_min", m.test_accuracy_local_min}};
    for (const auto& [name, share] : shares)
        if (share && !(*share >= -tolerance && *share <= 1 + tolerance))
            return fmt::format("{} is {}, no share", name, *share);
    const double waiting = m.waiting_stragglers_share.value_or(0) +
                           m.waiting_network_share.value_or(0) + m.waiting_dead_share.value_or(0);
    if (waiting > 1 + tolerance) return fmt::format("shares of waiting sum to {}", waiting);
    return {};
}

std::string fault_of_times(const Scenario& scenario, const Metrics& m) {
    constexpr double tolerance = 1e-9;
    if (scenario.stop.time && m.sim_time_s > to_seconds(*scenario.stop.time) * (1 + tolerance))
        return fmt::format("the run is {} s long, beyond its limit", m.sim_time_s);
    if (m.exposed_comm_s && m.step_time_s && *m.exposed_comm_s < -tolerance * *m.step_time_s)
        return fmt::format("exposed_comm_s is {}", *m.exposed_comm_s);
    if (m.efficiency && m.speedup && !nearly(*m.speedup, *m.efficiency * m.devices, tolerance))
        return fmt::format("speedup {} is not efficiency {} of {} devices", *m.speedup,
                           *m.efficiency, m.devices);
    double last = -1;
    for (const Evaluation& one : m.timeline) {
        if (one.sim_time_s < last) return "the timeline goes back in time";
        last = one.sim_time_s;
    }
    return {};
}

// Everything sent must arrive, except what is in flight at the end or lost with a node.
std::string fault_of_bytes(const Scenario& scenario, const Metrics& m) {
    const bool whole = scenario.algorithm.server_nodes == 0 && !scenario.cluster.failures &&
                       m.outcome == "finished";
    if (!whole || !m.total_sent_gb || !m.total_received_gb) return {};
    if (*m.total_received_gb > *m.total_sent_gb * (1 + 1e-9))
        return fmt::format("{} GB sent and {} GB received", *m.total_sent_gb, *m.total_received_gb);
    return {};
}

// On an idle network a step takes as long as its closed form says, if it has one. For numbers of
// workers that are not powers of two, and for unequal stripes, the form is an upper bound. Methods
// without waiting may finish exchanges after the last step, which their forms leave out.
std::string fault_of_model(const Scenario& scenario, std::string_view kind, const Metrics& m) {
    if (!m.model_step_time_s || !m.step_time_s || m.outcome != "finished") return {};
    constexpr std::array<std::string_view, 4> finish_behind{"ad-psgd", "swarm-sgd", "cocod-sgd",
                                                            "overlap-local-sgd"};
    // No closed form contains slow start, which occurs once per connection.
    if (scenario.cluster.tcp && scenario.cluster.tcp->first_window > Bytes{0}) return {};
    // The overlap of real gradients' entries is measured; the closed form assumes a law.
    if (scenario.training && (kind == "dgc" || kind == "gradient-dropping")) return {};
    constexpr double tolerance = 1e-6;
    const double step = *m.step_time_s;
    const double model = *m.model_step_time_s;
    const bool may_be_longer = std::ranges::find(finish_behind, kind) != finish_behind.end();
    const bool exact = std::has_single_bit(static_cast<unsigned>(scenario.cluster.workers)) &&
                       kind != "one-bit-sgd";
    // The last chunk of a vector may be some bytes shorter: less than one percent of a step.
    const bool too_long = step > model * (1 + tolerance) && !may_be_longer;
    const bool too_short = step < model * (1 - (exact ? 0.01 : 0.6)) && !may_be_longer;
    if (!too_long && !too_short) return {};
    return fmt::format("{}: a step takes {} s and its closed form says {} s", kind, step, model);
}

}  // namespace

bool make_small(Scenario& scenario, std::int64_t most) {
    cut(scenario, most);
    return is_small(scenario);
}

bool leads_somewhere(const Json& json, std::string_view path) {
    if (path.empty()) return true;
    if (path.front() == '[') {
        const std::size_t end = path.find(']');
        if (!json.is_array() || end == std::string_view::npos) return false;
        const auto i = std::stoul(std::string(path.substr(1, end - 1)));
        if (i >= json.size()) return false;
        path.remove_prefix(end + 1);
        if (path.starts_with('.')) path.remove_prefix(1);
        return leads_somewhere(json[i], path);
    }
    if (!json.is_object()) return false;
    for (const auto& [key, below] : json.items()) {
        const std::string shown = one_line(key, 1000);
        if (!path.starts_with(shown)) continue;
        std::string_view rest = path.substr(shown.size());
        if (!rest.empty() && rest.front() != '.' && rest.front() != '[') continue;
        if (rest.starts_with('.')) rest.remove_prefix(1);
        if (leads_somewhere(below, rest)) return true;
    }
    return false;
}

std::string fault_of_refusal(const ConfigError& error, const std::filesystem::path& file,
                             const std::string& text) {
    const std::string_view what = error.what();
    if (std::ranges::any_of(what, [](char c) { return c >= '\0' && c < ' '; }))
        return "the refusal has control characters";
    if (what.size() > 800 + error.file().size()) return "the refusal is too long to read";
    if (error.problem().empty()) return "the refusal says nothing";
    if (error.file() != file.string()) return {};  // in a file that the scenario names
    const Json json = Json::parse(text, nullptr, false);
    constexpr std::size_t longest_path = 100;
    if (json.is_discarded() || error.path().size() >= longest_path) return {};
    if (!leads_somewhere(json, error.path()))
        return fmt::format("its path, {}, is not in the scenario", error.path());
    for (const ConfigError& other : error.others())
        if (std::string fault = fault_of_refusal(other, file, text); !fault.empty()) return fault;
    return {};
}

std::string broken_law(const Scenario& scenario, std::string_view kind, const Metrics& metrics) {
    constexpr std::array<std::string_view, 9> outcomes{"finished",    "target",   "time-limit",
                                                       "diverged",    "deadlock", "out-of-range",
                                                       "no-progress", "spinning", "stopped"};
    if (std::ranges::find(outcomes, metrics.outcome) == outcomes.end())
        return fmt::format("its outcome is \"{}\"", metrics.outcome);
    const bool may_be_stuck = scenario.cluster.failures || !scenario.cluster.access.empty();
    if (metrics.outcome == "deadlock" && !may_be_stuck)
        return fmt::format("deadlock, and no node or link is ever away: {}",
                           metrics.outcome_details);
    for (std::string fault :
         {fault_of_numbers(metrics), fault_of_spread(metrics), fault_of_shares(metrics),
          fault_of_times(scenario, metrics), fault_of_bytes(scenario, metrics),
          fault_of_model(scenario, kind, metrics)})
        if (!fault.empty()) return fault;
    for (std::size_t i = 0; i < metrics.other_jobs.size(); ++i)
        if (std::string fault = fault_of_numbers(metrics.other_jobs[i]); !fault.empty())
            return fmt::format("other job {}: {}", i, fault);
    return {};
}

namespace {

struct Run {
    std::string csv;
    std::string fault;
    std::string outcome;
    bool stopped = false;
};

// Says from where on two runs of the same scenario differ.
std::string difference(const std::string& first, const std::string& second) {
    const auto at =
        static_cast<std::size_t>(std::ranges::mismatch(first, second).in1 - first.begin());
    const std::size_t begin = at < 30 ? 0 : at - 30;
    return fmt::format("two runs differ: \"{}\" and \"{}\"",
                       one_line(std::string_view(first).substr(begin), 60),
                       one_line(std::string_view(second).substr(begin), 60));
}

std::string kind_of(const Point& point) {
    return Json::parse(point.resolved).at("algorithm").at("kind").get<std::string>();
}

Run run(const Study& study, double most_seconds) {
    Run made;
    std::vector<PointResult> results;
    for (const Point& point : study.points) {
        Progress progress;
        const Deadline deadline(progress, most_seconds);
        results.push_back({run_point(point.scenario, &progress, {most_resumptions}), 0});
        const Metrics& metrics = results.back().metrics;
        if (made.outcome.empty()) made.outcome = metrics.outcome;
        made.stopped |= metrics.outcome == "stopped";
        if (made.fault.empty()) made.fault = broken_law(point.scenario, kind_of(point), metrics);
    }
    made.csv = results_csv({study, results}) + timeline_csv({study, results});
    made.csv += summary_csv({study, results}).value_or("");
    made.csv += speedup_table({study, results});
    static_cast<void>(manifest_json(study, results, {1, 0}));
    return made;
}

Verdict judged(Study study, const JudgeOptions& options) {
    static_cast<void>(check_text(study));
    const bool all = study.points.size() <= options.most_points;
    std::vector<Point> points;
    for (std::size_t i = 0; i < std::min(study.points.size(), options.most_points); ++i) {
        Point& point = points.emplace_back(study.points[i]);
        if (!all) point.choice.clear();
        if (!make_small(point.scenario, most_steps)) return {Fate::too_large, {}, {}};
    }
    if (!all) study.axes.clear();
    study.points = Points(std::move(points));
    const Run first = run(study, options.most_seconds);
    Verdict made{Fate::ran, first.fault, first.outcome};
    if (!options.twice || first.stopped || !made.fault.empty()) return made;
    const Run second = run(study, options.most_seconds);
    if (!second.stopped && second.csv != first.csv) made.fault = difference(first.csv, second.csv);
    return made;
}

}  // namespace

Verdict judge(const std::filesystem::path& file, const JudgeOptions& options) {
    try {
        Study study = read_study(file.string(), {});
        check_memory(study, 1);
        return judged(std::move(study), options);
    } catch (const ConfigError& error) {
        return {Fate::refused, fault_of_refusal(error, file, content_of(file)), error.what()};
    } catch (const std::exception& error) {
        return {Fate::ran, fmt::format("an exception: {}", error.what()), {}};
    }
}

}  // namespace paceline
