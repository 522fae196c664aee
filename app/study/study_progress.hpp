// Tracks the progress of a study and reports it: to a person on a terminal, or to a machine line by
// line.
//
// A terminal gets one line that is redrawn: points done, simulated time, events per second, time
// left, at most where runs end at a target and none of these has ended yet. A machine (--log-json)
// gets a JSON object per line on standard error:
//
//   {"event": "study", "title", "points", "kept", "jobs"}             at the start
//   {"event": "point", "point", "outcome", "details", "sim_time_s", "wall_clock_s",
//    "done", "points", "elapsed_s", "left_s"}                         when a point has finished
//   {"event": "warning" | "error" | "note", "text"}
//   {"event": "end", "complete", "done", "points", "results", "wall_clock_s"}
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "app/study/study_runs.hpp"
#include "app/study/time_left.hpp"
#include "sim/engine/simulation.hpp"

namespace paceline {

enum class Telling : std::uint8_t { nothing, line, json };

/// Writes a line of --log-json. `fields` is a JSON object.
void log_json(const std::string& event, const Json& fields);

class StudyProgress {
  public:
    StudyProgress(const StudyRuns& runs, std::size_t threads, Telling telling);
    StudyProgress(const StudyProgress&) = delete;
    StudyProgress& operator=(const StudyProgress&) = delete;
    ~StudyProgress() = default;

    /// Begins the study. `kept` points are already done from an earlier run.
    void begin(std::size_t kept);
    /// Adds these runs to those that remain to be done.
    void expects(const std::vector<std::size_t>& runs);
    /// Returns the expected seconds of a run that remains to be done; an average if nothing is
    /// known about it.
    [[nodiscard]] double expected_s(std::size_t run) const { return expected_s_[run]; }
    /// Called when a thread of this process begins a run. Returns where the run reports its
    /// progress.
    Progress* begins(std::size_t thread, std::size_t run, const Scenario& scenario);
    /// Called when the thread has left that run. A result, if there is one, goes to finished().
    void ends(std::size_t thread);
    /// Called when a run has finished, here or in another process.
    void finished(std::size_t run, const PointResult& result);
    /// Makes the runs in progress end soon.
    void stop_all();

    /// Returns the number of points that are done. Thread-safe.
    [[nodiscard]] std::size_t done() const;
    /// Returns the line for a terminal, without its end. Thread-safe.
    [[nodiscard]] std::string line() const;

  private:
    using Clock = std::chrono::steady_clock;

    struct Thread {
        Progress progress;
        bool busy = false;
        double expected_s = 0;
        double expected_sim_s = 0;  // 0: unknown
        Clock::time_point begin;
    };

    void draw(const std::stop_token& stop) const;
    [[nodiscard]] double seconds_left() const;  // with the lock held

    const StudyRuns& runs_;
    Telling telling_;
    Clock::time_point begin_ = Clock::now();
    mutable std::mutex mutex_;
    std::deque<Thread> threads_;
    std::vector<double> expected_s_;         // [run]
    std::set<std::size_t> may_end_earlier_;  // runs: what is expected is the most they may take
    bool knows_earlier_ends_ = false;        // one of them has ended
    TimeLeft left_;
    std::size_t done_ = 0;  // points
    std::uint64_t events_ = 0;
    std::jthread display_;
};

}  // namespace paceline
