// How far a study is, and telling it: to a person on a terminal, or to a machine line by line.
//
// A terminal gets one line that is drawn anew: points done, simulated time, events per second, time
// left. A machine (--log-json) gets a JSON object per line on standard error:
//
//   {"event": "study", "title", "points", "kept", "jobs"}             at the start
//   {"event": "point", "point", "outcome", "details", "sim_time_s", "wall_clock_s",
//    "done", "points", "elapsed_s", "left_s"}                         as each point has finished
//   {"event": "warning" | "error" | "note", "text"}
//   {"event": "end", "complete", "done", "points", "results", "wall_clock_s"}
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "app/study_runs.hpp"
#include "app/time_left.hpp"
#include "sim/engine/simulation.hpp"

namespace paceline {

enum class Telling : std::uint8_t { nothing, line, json };

/// A line of --log-json. `fields` is a JSON object.
void log_json(const std::string& event, const Json& fields);

class StudyProgress {
  public:
    StudyProgress(const StudyRuns& runs, std::size_t threads, Telling telling);
    StudyProgress(const StudyProgress&) = delete;
    StudyProgress& operator=(const StudyProgress&) = delete;
    ~StudyProgress() = default;

    /// So many points are done already, from before.
    void begin(std::size_t kept);
    /// These runs are to be done, too.
    void expects(const std::vector<std::size_t>& runs);
    /// Of a run that is to be done; an average where nothing is known of it.
    [[nodiscard]] double expected_s(std::size_t run) const { return expected_s_[run]; }
    /// A thread of this process begins a run; it is to report there.
    Progress* begins(std::size_t thread, std::size_t run);
    /// That it does no longer; its result, if it has one, is finished().
    void ends(std::size_t thread);
    /// A run has finished, here or elsewhere.
    void finished(std::size_t run, const PointResult& result);
    /// Makes the runs under way end soon.
    void stop_all();

    [[nodiscard]] std::string line() const;

  private:
    using Clock = std::chrono::steady_clock;

    struct Thread {
        Progress progress;
        bool busy = false;
        double expected_s = 0;
        double expected_sim_s = 0;  // 0: not known
        Clock::time_point begin;
    };

    void draw(const std::stop_token& stop) const;
    [[nodiscard]] double seconds_left() const;  // with the lock held

    const StudyRuns& runs_;
    Telling telling_;
    Clock::time_point begin_ = Clock::now();
    mutable std::mutex mutex_;
    std::deque<Thread> threads_;
    std::vector<double> expected_s_;  // [run]
    TimeLeft left_;
    std::size_t done_ = 0;  // points
    std::uint64_t events_ = 0;
    std::jthread display_;
};

}  // namespace paceline
