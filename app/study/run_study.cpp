#include "app/study/run_study.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "app/host/available_memory.hpp"
#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/study/kept_points.hpp"
#include "app/study/run_queue.hpp"

namespace paceline {

void check_memory(const Study& study, int jobs) {
    std::vector<Bytes> needs;
    for (const Point& point : study.points) needs.push_back(estimated_memory(point.scenario));
    const auto together = std::min(static_cast<std::size_t>(jobs), needs.size());
    std::ranges::partial_sort(needs, needs.begin() + static_cast<std::ptrdiff_t>(together),
                              std::ranges::greater{});
    Bytes need;
    for (std::size_t i = 0; i < together; ++i) need += needs[i];
    const Bytes free = available_memory();
    if (free == Bytes{0} || need <= free) return;
    const Point& largest = *std::ranges::max_element(
        study.points, {}, [](const Point& point) { return estimated_memory(point.scenario); });
    const int most = largest.scenario.cluster.workers;
    std::string path = largest.scenario.cluster.bus ? "cluster" : "cluster.nodes";
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (study.axes[i].path == "cluster.nodes" || study.axes[i].path == "cluster.devices")
            path = fmt::format("sweep.{}[{}]", study.axes[i].path, largest.choice[i]);
    throw ConfigError(
        study.file, path,
        fmt::format(
            "{} workers on {} threads need about {:.1f} GB of memory and {:.1f} GB are free; "
            "use fewer nodes, a smaller fabric or a smaller --jobs",
            most, together, static_cast<double>(need.count) * 1e-9,
            static_cast<double>(free.count) * 1e-9));
}

namespace {

std::vector<std::size_t> points_of(const StudyRuns& runs) {
    std::vector<std::size_t> points(runs.points());
    std::iota(points.begin(), points.end(), std::size_t{0});
    return points;
}

// Takes over the stored results of these runs, and returns the others.
std::vector<std::size_t> take_kept_but_traced(RunQueue& queue,
                                              const std::vector<std::size_t>& wanted,
                                              const Tracing* tracing) {
    const auto is_traced = [tracing](std::size_t run) {
        return tracing != nullptr && tracing->traces(run);
    };
    std::vector<std::size_t> to_take;
    std::vector<std::size_t> to_do;
    for (const std::size_t run : wanted) (is_traced(run) ? to_do : to_take).push_back(run);
    for (const std::size_t run : queue.take_kept(to_take)) to_do.push_back(run);
    std::ranges::sort(to_do);
    return to_do;
}

}  // namespace

StudyOutcome run_study(const Study& study, const StudyOptions& options) {
    const StudyRuns runs(study);
    std::optional<KeptPoints> kept;
    if (options.keep_in) kept.emplace(*options.keep_in);
    PoolSize size = options.pool;
    size.loops = std::clamp<std::size_t>(runs.points(), 1, size.loops);
    StudyProgress progress(runs, size.loops + options.loops_elsewhere, options.telling);
    RunQueue queue(runs, kept ? &*kept : nullptr, progress);
    const auto take_kept = [&](const std::vector<std::size_t>& wanted) {
        return kept && options.resume ? take_kept_but_traced(queue, wanted, options.tracing)
                                      : wanted;
    };
    const auto run_all = [&](const std::vector<std::size_t>& to_do) {
        queue.add(to_do);
        options.run_all(
            runs, size,
            {[&] { return queue.next(); },
             [&](std::size_t run, PointResult result) { queue.finished(run, std::move(result)); },
             [&](std::size_t run, const Scenario& scenario, Progress* told) {
                 return options.tracing != nullptr && options.tracing->traces(run)
                            ? options.tracing->run(run, scenario, told)
                            : run_point(scenario, told);
             }},
            progress, options.stop);
    };

    const std::vector<std::size_t> to_do = take_kept(points_of(runs));
    StudyOutcome outcome;
    outcome.kept = runs.points() - to_do.size();
    progress.begin(outcome.kept);
    run_all(to_do);
    if (!options.stop.stop_requested()) run_all(take_kept(runs.baselines_for(queue.results())));
    runs.add_speedups_to_target(queue.results());
    outcome.results = std::move(queue.results());
    outcome.results.resize(runs.points());
    outcome.complete = !options.stop.stop_requested();
    return outcome;
}

std::vector<PointResult> run_points(const Study& study, int jobs) {
    StudyOptions options;
    options.pool = {static_cast<std::size_t>(jobs), static_cast<std::size_t>(jobs)};
    return run_study(study, options).results;
}

namespace {

bool any_trains(const Study& study) {
    return std::ranges::any_of(study.points,
                               [](const Point& p) { return p.scenario.training.has_value(); });
}

// Writes the file, or removes one that an earlier study left if there is nothing to write.
void write_or_remove(const std::filesystem::path& file, const std::optional<std::string>& text) {
    std::error_code ignored;
    if (text)
        write_file(file, *text);
    else
        std::filesystem::remove(file, ignored);
}

}  // namespace

namespace {

// The part of a study that was run, with its results.
struct Ran {
    Study study;
    std::vector<PointResult> results;
};

Ran ran_part(const Study& study, const std::vector<PointResult>& results) {
    Ran ran{{study.file, study.title, study.axes, {}}, {}};
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].metrics.outcome.empty()) continue;
        ran.study.points.push_back(study.points[i]);
        ran.results.push_back(results[i]);
    }
    return ran;
}

}  // namespace

void write_results(const std::filesystem::path& folder, const Study& whole,
                   const std::vector<PointResult>& all, const RunInfo& info) {
    const auto& [study, results] = ran_part(whole, all);
    write_file(folder / "results.csv", results_csv(study, results));
    write_or_remove(folder / "timeline.csv",
                    any_trains(study) ? std::optional(timeline_csv(study, results)) : std::nullopt);
    write_or_remove(folder / "summary.csv", summary_csv(study, results));
    write_file(folder / "table.txt", speedup_table(study, results));
    write_file(folder / "manifest.json", manifest_json(study, results, info));
}

}  // namespace paceline
