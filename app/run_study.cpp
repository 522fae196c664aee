#include "app/run_study.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "app/available_memory.hpp"
#include "app/config_error.hpp"
#include "app/output.hpp"
#include "app/run_point.hpp"

namespace paceline {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What the threads of a study share.
struct Shared {
    const Study& study;
    std::vector<PointResult> results;
    std::vector<Progress> progress;  // one per thread
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    std::atomic<std::uint64_t> events_done{0};
    std::mutex failure_mutex;
    std::exception_ptr failure;

    Shared(const Study& s, std::size_t threads)
        : study(s), results(s.points.size()), progress(threads) {}
};

void run_until_none_left(Shared& shared, std::size_t thread) {
    while (true) {
        const std::size_t i = shared.next.fetch_add(1);
        if (i >= shared.study.points.size()) return;
        try {
            const auto begin = Clock::now();
            shared.results[i].metrics =
                run_point(shared.study.points[i].scenario, &shared.progress[thread]);
            shared.results[i].wall_clock_s = seconds_since(begin);
        } catch (...) {
            const std::scoped_lock lock(shared.failure_mutex);
            if (!shared.failure) shared.failure = std::current_exception();
            shared.next = shared.study.points.size();
            return;
        }
        shared.events_done += shared.results[i].metrics.events;
        shared.progress[thread].events = 0;
        ++shared.done;
    }
}

std::string time_left(double elapsed_s, std::size_t done, std::size_t points) {
    if (done == 0) return "?";
    const double left = elapsed_s / static_cast<double>(done) * static_cast<double>(points - done);
    return left < 60
               ? fmt::format("{:.0f} s", left)
               : fmt::format("{:.0f} min {:02.0f} s", std::floor(left / 60), std::fmod(left, 60));
}

std::string progress_line(const Shared& shared, double elapsed_s) {
    std::uint64_t events = shared.events_done;
    double furthest_s = 0;
    for (const Progress& progress : shared.progress) {
        events += progress.events;
        furthest_s = std::max(furthest_s, static_cast<double>(progress.now_ps) * 1e-12);
    }
    const std::size_t points = shared.study.points.size();
    return fmt::format("{}/{} points  simulated {:.3f} s  {:.2f} M events/s  {} left",
                       shared.done.load(), points, furthest_s,
                       static_cast<double>(events) / std::max(elapsed_s, 1e-3) * 1e-6,
                       time_left(elapsed_s, shared.done, points));
}

void show_until_done(const std::stop_token& stop, const Shared& shared, Clock::time_point begin) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        wake.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
        fmt::print(stderr, "\r\x1b[K{}", progress_line(shared, seconds_since(begin)));
        std::fflush(stderr);
    }
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
}

}  // namespace

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

std::vector<PointResult> run_points(const Study& study, int jobs, bool show_progress) {
    const std::size_t threads =
        std::min(static_cast<std::size_t>(jobs), std::max<std::size_t>(1, study.points.size()));
    Shared shared(study, threads);
    const auto begin = Clock::now();
    {
        std::jthread display;
        if (show_progress)
            display = std::jthread([&shared, begin](const std::stop_token& stop) {
                show_until_done(stop, shared, begin);
            });
        std::vector<std::jthread> workers;
        for (std::size_t i = 0; i < threads; ++i)
            workers.emplace_back([&shared, i] { run_until_none_left(shared, i); });
    }
    if (shared.failure) std::rethrow_exception(shared.failure);
    return std::move(shared.results);
}

namespace {

bool any_trains(const Study& study) {
    return std::ranges::any_of(study.points,
                               [](const Point& p) { return p.scenario.training.has_value(); });
}

// What does not belong to these results does not stay from others.
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
    write_file(folder / "results.csv", results_csv(study, results));
    write_or_remove(folder / "timeline.csv",
                    any_trains(study) ? std::optional(timeline_csv(study, results)) : std::nullopt);
    write_or_remove(folder / "summary.csv", summary_csv(study, results));
    write_file(folder / "table.txt", speedup_table(study, results));
    write_file(folder / "manifest.json", manifest_json(study, results, info));
}

}  // namespace paceline
