#include "app/study/run_study.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <system_error>

#include "app/host/output.hpp"
#include "app/run/comparisons.hpp"
#include "app/run/run_point.hpp"
#include "app/run/table.hpp"
#include "app/study/kept_points.hpp"
#include "app/study/results_folder.hpp"
#include "app/study/run_queue.hpp"

namespace paceline {

namespace {

std::vector<std::size_t> points_of(const StudyRuns& runs) {
    std::vector<std::size_t> points(runs.points());
    std::iota(points.begin(), points.end(), std::size_t{0});
    return points;
}

// Takes over the stored results of these runs, and returns the others and those that leave more
// than a result.
std::vector<std::size_t> take_kept_but_recorded(RunQueue& queue, const StudyRuns& runs,
                                                const std::vector<std::size_t>& wanted,
                                                const StudyOptions& options) {
    const auto is_recorded = [&](std::size_t run) {
        if (run >= runs.points()) return false;
        if (options.tracing != nullptr && options.tracing->traces(run)) return true;
        return options.links != nullptr && !options.links->has(runs.key(run));
    };
    std::vector<std::size_t> to_take;
    std::vector<std::size_t> to_do;
    for (const std::size_t run : wanted) (is_recorded(run) ? to_do : to_take).push_back(run);
    for (const std::size_t run : queue.take_kept(to_take)) to_do.push_back(run);
    std::ranges::sort(to_do);
    return to_do;
}

// Performs a run with the observers that are wanted.
Metrics run_observed(const StudyRuns& runs, std::size_t run, const Scenario& scenario,
                     Progress* progress, const StudyOptions& options) {
    const auto traced = [&](const Observer* also) {
        return options.tracing != nullptr && options.tracing->traces(run)
                   ? options.tracing->run(run, scenario, progress, also)
                   : run_point(scenario, progress, {}, also);
    };
    if (options.links == nullptr || run >= runs.points()) return traced(nullptr);
    return options.links->run(runs.key(run), run,
                              [&](const Observer& also) { return traced(&also); });
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
        return kept && options.resume ? take_kept_but_recorded(queue, runs, wanted, options)
                                      : wanted;
    };
    const auto run_all = [&](const std::vector<std::size_t>& to_do) {
        queue.add(to_do);
        if (options.begins) options.begins();
        options.run_all(
            runs, size,
            {[&] { return queue.next(); },
             [&](std::size_t run, PointResult result) { queue.finished(run, std::move(result)); },
             [&](std::size_t run, const Scenario& scenario, Progress* progress) {
                 return run_observed(runs, run, scenario, progress, options);
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
    if (options.links != nullptr) options.links->write_csv(runs, outcome.complete);
    if (!kept) return outcome;
    outcome.warnings = kept->warnings();
    if (outcome.complete)
        kept->forget_unused(std::filesystem::file_time_type::clock::now() - time_to_forget);
    return outcome;
}

namespace {

// Writes the file, or removes one that an earlier study left if there is nothing to write.
void write_or_remove(const std::filesystem::path& file, const std::optional<std::string>& text) {
    std::error_code ignored;
    if (text)
        write_file(file, *text);
    else
        std::filesystem::remove(file, ignored);
}

}  // namespace

void write_results(const std::filesystem::path& folder, const Study& study,
                   const std::vector<PointResult>& results, const RunInfo& info) {
    const RanPoints ran(study, results);
    write_file(folder / "results.csv", results_csv(ran));
    write_or_remove(folder / "timeline.csv",
                    ran.trains ? std::optional(timeline_csv(ran)) : std::nullopt);
    write_or_remove(folder / "summary.csv", summary_csv(ran));
    write_or_remove(folder / "comparisons.csv", comparisons_csv(ran));
    write_or_remove(folder / "answers.csv", std::nullopt);  // of paceline solve, about other points
    write_file(folder / "table.txt", speedup_table(ran));
    write_file(folder / "manifest.json", manifest_json(study, results, info));
}

std::vector<std::string> replace_results(const std::filesystem::path& folder, const Study& study,
                                         const std::vector<PointResult>& results,
                                         const RunInfo& info) {
    const std::string before = hash_of_tables(folder);
    write_results(folder, study, results, info);
    if (hash_of_tables(folder) == before) return {};
    return remove_figures(folder);
}

}  // namespace paceline
