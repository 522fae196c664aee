#include "app/study/study_progress.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/console.hpp"
#include "app/run/running_time.hpp"

namespace paceline {

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string duration_text(double seconds) {
    const std::int64_t whole = std::llround(seconds);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

void log_json(const std::string& event, const Json& fields) {
    Json line{{"event", event}};
    line.update(fields);
    print(stderr, line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

StudyProgress::StudyProgress(const StudyRuns& runs, std::size_t threads, Telling telling)
    : runs_(runs), telling_(telling), threads_(threads), expected_s_(runs.size(), 0) {
    if (telling == Telling::line)
        display_ = std::jthread([this](const std::stop_token& stop) { draw(stop); });
}

void StudyProgress::begin(std::size_t kept) {
    const std::scoped_lock lock(mutex_);
    done_ = kept;
    if (telling_ == Telling::json)
        log_json("study", {{"title", runs_.study().title},
                           {"points", runs_.points()},
                           {"kept", kept},
                           {"jobs", threads_.size()}});
}

// A run about which nothing is known counts as an average one.
void StudyProgress::expects(const std::vector<std::size_t>& runs) {
    const std::scoped_lock lock(mutex_);
    double sum = 0;
    std::size_t known = 0;
    for (const std::size_t run : runs) {
        expected_s_[run] = runs_.expected(run).seconds.value_or(0);
        if (runs_.expected(run).may_end_earlier) may_end_earlier_.insert(run);
        sum += expected_s_[run];
        if (expected_s_[run] > 0) ++known;
    }
    const double average = known > 0 ? sum / static_cast<double>(known) : 1;
    for (const std::size_t run : runs) {
        if (expected_s_[run] <= 0) expected_s_[run] = average;
        left_.expects(expected_s_[run]);
    }
}

Progress* StudyProgress::begins(std::size_t thread, std::size_t run, const Scenario& scenario) {
    const double expected_sim_s = expected_sim_seconds(scenario).value_or(0);
    const std::scoped_lock lock(mutex_);
    Thread& self = threads_[thread];
    self.progress.events = 0;
    self.progress.now_ps = 0;
    self.busy = true;
    self.expected_s = expected_s_[run];
    self.expected_sim_s = expected_sim_s;
    self.begin = Clock::now();
    return &self.progress;
}

void StudyProgress::ends(std::size_t thread) {
    const std::scoped_lock lock(mutex_);
    threads_[thread].busy = false;
}

void StudyProgress::finished(std::size_t run, const PointResult& result) {
    const std::scoped_lock lock(mutex_);
    left_.finished(expected_s_[run], result.wall_clock_s);
    events_ += result.metrics.events;
    knows_earlier_ends_ = knows_earlier_ends_ || may_end_earlier_.contains(run);
    if (run >= runs_.points()) return;
    ++done_;
    if (telling_ != Telling::json) return;
    Json fields{{"point", runs_.study().points.position(run).number},
                {"outcome", result.metrics.outcome}};
    if (!result.metrics.outcome_details.empty()) fields["details"] = result.metrics.outcome_details;
    fields.update({{"sim_time_s", result.metrics.sim_time_s},
                   {"wall_clock_s", result.wall_clock_s},
                   {"done", done_},
                   {"points", runs_.points()},
                   {"elapsed_s", seconds_since(begin_)},
                   {"left_s", seconds_left()}});
    log_json("point", fields);
}

void StudyProgress::stop_all() {
    for (Thread& thread : threads_) thread.progress.stop = true;
}

double StudyProgress::seconds_left() const {
    std::vector<UnderWay> under_way;
    for (const Thread& thread : threads_) {
        if (!thread.busy) continue;
        const double passed_s = static_cast<double>(thread.progress.now_ps) * 1e-12;
        const double share =
            thread.expected_sim_s > 0 ? std::min(1.0, passed_s / thread.expected_sim_s) : 0;
        under_way.push_back({thread.expected_s, share, seconds_since(thread.begin)});
    }
    return left_.seconds(under_way, threads_.size());
}

std::size_t StudyProgress::done() const {
    const std::scoped_lock lock(mutex_);
    return done_;
}

std::string StudyProgress::line() const {
    const std::scoped_lock lock(mutex_);
    std::uint64_t events = events_;
    double furthest_s = 0;
    for (const Thread& thread : threads_) {
        if (!thread.busy) continue;
        events += thread.progress.events;
        furthest_s = std::max(furthest_s, static_cast<double>(thread.progress.now_ps) * 1e-12);
    }
    return fmt::format("{}/{} points  simulated {:.3f} s  {:.2f} M events/s  {}{} left", done_,
                       runs_.points(), furthest_s,
                       static_cast<double>(events) / std::max(seconds_since(begin_), 1e-3) * 1e-6,
                       may_end_earlier_.empty() || knows_earlier_ends_ ? "" : "at most ",
                       duration_text(seconds_left()));
}

void StudyProgress::draw(const std::stop_token& stop) const {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        wake.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
        print_raw(stderr, "\r\x1b[K" + line());
    }
    print_raw(stderr, "\r\x1b[K");
}

}  // namespace paceline
