// One simulated world: its clock, its future events, and the coroutines that live in it.
//
// The loop, instant by instant:
//   1. resume ready coroutines, first in, first out, until none is left;
//   2. fire the next event of this instant, in the order of EventKey, and go to 1;
//   3. when the instant has no more events, run its closing actions (the network solves its rates
//      there); these may create more work for the same instant: go to 1;
//   4. advance the clock to the next event, if an event is left that keeps the run alive.
//
// A run is an object without globals, so two simulations can run side by side on two threads. After
// run() has thrown, the simulation can only be destroyed.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/action.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/coroutine.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Why run() returned.
enum class RunEnd : std::uint8_t {
    idle,          // no event keeps the run alive; whoever still waits is deadlocked
    stopped,       // stop() was called
    time_limit,    // the next event is beyond the given limit; the clock stands at the limit
    out_of_range,  // the next event is at `never`
    spinning,      // too many resumptions without progress; spinning_process() names the process
};

/// A waiting process, and what it waits for.
struct Waiting {
    std::string process;
    std::string what;
};

/// Progress of a run. Another thread may read it during the run and may request a stop.
struct Progress {
    std::atomic<std::uint64_t> events = 0;
    std::atomic<std::int64_t> now_ps = 0;
    std::atomic<bool> stop = false;  // checked at each progress; acts like Simulation::stop()
};

class Simulation {
  public:
    /// A run ends as `spinning` after more resumptions than this without progress. The clock's
    /// advance is progress, and so is what note_progress() reports.
    static constexpr std::uint64_t default_resumption_limit = 20'000'000;

    Simulation() = default;
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    [[nodiscard]] Time now() const { return now_; }

    /// Fires `action` at `time`, or after `wait`. Requires that this is not in the past.
    EventId at(Time time, Action action, EventKind kind = EventKind::foreground,
               EventKey key = {}) {
        PACELINE_CHECK(time >= now_, "an event cannot lie in the past");
        return events_.push(time, action, kind, key);
    }
    EventId after(Duration wait, Action action, EventKind kind = EventKind::foreground,
                  EventKey key = {}) {
        return at(later(now_, wait), action, kind, key);
    }
    bool cancel(EventId event) { return events_.cancel(event); }

    /// Returns whether an event of this time and key would have fired by now, if it had been pushed
    /// before this instant.
    [[nodiscard]] bool has_fired(Time time, EventKey key) const {
        return time < now_ || (time == now_ && fires_ && key <= latest_key_);
    }

    /// Runs `action` once, when this instant has no ready coroutines and no events left.
    void at_end_of_instant(Action action) { closing_.push_back(action); }

    class Sleep;
    /// co_await simulation.sleep(1us). Even a wait of zero or less lets the other work that is
    /// ready in this instant run first.
    [[nodiscard]] Sleep sleep(Duration wait);

    /// Starts the task now, concurrently with the caller, as part of `process`.
    template <class T>
    Pending<T> start(ProcessPtr process, Task<T> task) {
        PACELINE_CHECK(process != nullptr, "a task belongs to a process");
        const Process* const caller = std::exchange(running_process_, process.get());
        task.promise().begin(*this, process.get(), nullptr);
        running_process_ = caller;
        return Pending<T>(std::move(process), std::move(task));
    }

    /// Runs until no work is left, the clock would pass `limit`, or something ends the run.
    /// Rethrows an exception of a process at the instant in which it was thrown.
    RunEnd run(Time limit = never);

    /// Ends run() before the next resumption or event.
    void stop() { stopped_ = true; }

    /// Returns the process that is being resumed. Requires that one is.
    [[nodiscard]] ProcessPtr running_process() const {
        PACELINE_CHECK(running_process_ != nullptr, "a process is running");
        return ProcessPtr(running_process_);
    }
    /// Returns the kind of the process that is being resumed; foreground if an event is.
    [[nodiscard]] EventKind running_kind() const {
        return running_process_ == nullptr ? EventKind::foreground : running_process_->kind;
    }

    /// Sets whether standby events keep the run alive, as foreground events do; at first they do
    /// not.
    void count_standby(bool counts) { standby_counts_ = counts; }

    /// Returns the waiting processes. After RunEnd::idle these are deadlocked, except daemons,
    /// which may wait forever.
    [[nodiscard]] std::vector<Waiting> waiting() const;
    /// Returns the name of the process that was resumed last when the run ended as `spinning`.
    [[nodiscard]] const std::string& spinning_process() const { return spinning_process_; }

    /// Sets that limit. It must exceed what the largest piece of work between two progresses needs.
    void limit_resumptions(std::uint64_t without_progress) { resumption_limit_ = without_progress; }
    /// Notes that the run has come nearer to its end although the clock may stand still. A run
    /// whose processes may call this without end while the clock stands still never ends, so report
    /// only what happens a bounded number of times, such as the steps of a run with a number of
    /// steps.
    void note_progress();
    [[nodiscard]] std::uint64_t events_fired() const { return events_fired_; }
    [[nodiscard]] std::size_t events_pending() const { return events_.size(); }
    /// Writes progress to `progress` at each instant and each note_progress() (nullptr: nowhere).
    /// It must outlive the run.
    void report_to(Progress* progress) { progress_ = progress; }
    /// Returns whether a stop has been requested there, for work that takes long within one event.
    [[nodiscard]] bool is_to_stop() const {
        return progress_ != nullptr && progress_->stop.load(std::memory_order_relaxed);
    }

  private:
    friend class Coroutine;

    bool resume_ready();
    void close_instant();
    void advance_to(Time time);
    bool interrupted() const { return stopped_ || failure_ != nullptr; }

    // Lists come first: frames destroyed after this object would refer to it, so declare Processes
    // after it.
    WaitingList ready_;
    AliveList alive_;
    EventQueue events_;
    std::vector<Action> closing_;
    std::vector<Action> closing_now_;
    Time now_{};
    EventKey
        latest_key_;  // of the events that have fired in this instant, the last; if any has fired
    bool fires_ = false;                        // an event has fired in this instant
    const Process* running_process_ = nullptr;  // set while run() resumes it
    std::string spinning_process_ = "?";
    std::exception_ptr failure_;
    std::uint64_t resumption_limit_ = default_resumption_limit;
    std::uint64_t resumptions_ = 0;  // since the last progress
    std::uint64_t events_fired_ = 0;
    Progress* progress_ = nullptr;
    bool standby_counts_ = false;
    bool stopped_ = false;
};

/// Awaiter of sleep(). Whether it ends by timeout or cancellation, it leaves no event behind.
class [[nodiscard]] Simulation::Sleep {
  public:
    Sleep(Simulation& simulation, Duration wait) : simulation_(simulation), wait_(wait) {}
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;
    ~Sleep() {
        if (sleeper_ != nullptr) simulation_.cancel(event_);
    }

    static bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& sleeper = handle.promise();
        if (wait_ <= Duration::zero()) return sleeper.wake();
        sleeper.waits_for({"its own computation or timer"});
        sleeper_ = &sleeper;
        event_ = simulation_.after(wait_, action<&Sleep::over>(*this), sleeper.kind());
    }
    static void await_resume() noexcept {}

  private:
    void over(std::uint32_t /*unused*/) {
        sleeper_->wake();
        sleeper_ = nullptr;
    }

    Simulation& simulation_;
    Duration wait_;
    Coroutine* sleeper_ = nullptr;  // set while the event is pending
    EventId event_;
};

inline Simulation::Sleep Simulation::sleep(Duration wait) {
    return {*this, wait};
}

}  // namespace paceline
