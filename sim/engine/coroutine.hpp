// What the engine knows about every coroutine, whatever it returns: where it waits, for what, and
// whom it notifies at its end.
//
// A suspended coroutine is in at most one waiting list (the ready list, a channel's, a barrier's).
// Destroying its frame removes it from that list. Only two things resume a coroutine: the
// simulation's loop, and the start of a child in its parent's co_await. The stack therefore stays
// flat, and coroutines resume first in, first out.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "sim/engine/event_queue.hpp"
#include "sim/engine/frame_pool.hpp"
#include "sim/engine/intrusive_list.hpp"

namespace paceline {

class Simulation;
class Coroutine;

/// The process a coroutine belongs to. Its kind says whether what the process waits for and sends
/// keeps a run alive.
///
/// Whoever owns a frame that the simulation resumes (Processes, Pending) also owns its process. The
/// frame's children are destroyed with it, so they refer to the process without owning it.
struct Process : std::enable_shared_from_this<Process> {
    Process(std::string called, EventKind of_kind) : name(std::move(called)), kind(of_kind) {}

    std::string name;
    EventKind kind;
};
using ProcessPtr = std::shared_ptr<const Process>;

/// Returns a new process.
[[nodiscard]] inline ProcessPtr make_process(std::string name,
                                             EventKind kind = EventKind::foreground) {
    return std::make_shared<const Process>(std::move(name), kind);
}

/// What a suspended coroutine waits for, as text plus one number ("a message from node" 3). For
/// reports.
struct WaitReason {
    const char* what = nullptr;  // a string literal; nullptr while it waits for its own child
    std::int64_t subject = -1;   // not printed when negative
};

/// Counts down arrivals and wakes one coroutine at the last. Lives in the waiting coroutine's
/// frame.
class Join {
  public:
    explicit Join(std::uint32_t needed) : needed_(needed) {}
    Join(const Join&) = delete;
    Join& operator=(const Join&) = delete;

    [[nodiscard]] bool complete() const { return needed_ == 0; }
    void wake(Coroutine& waiter) { waiter_ = &waiter; }

    /// Sets how many arrivals are still needed. Requires 1 or more, and that it is not complete.
    void expect(std::uint32_t needed) { needed_ = needed; }

    /// Records one arrival.
    void arrive();
    /// Records a failure: the waiter wakes without waiting for the others.
    void fail() {
        needed_ = std::min(needed_, 1U);
        arrive();
    }

    Join* behind = nullptr;  // next in a queue of joins, for the owner of such a queue

  private:
    std::uint32_t needed_;
    Coroutine* waiter_ = nullptr;
};

struct WaitingTag;
struct AliveTag;

/// Base of all promises.
class Coroutine : public ListHook<WaitingTag>, public ListHook<AliveTag> {
  public:
    /// Starts the lazy coroutine in `simulation` on behalf of a process (nullptr: none).
    void begin(Simulation& simulation, const Process* process, Join* join);

    /// Puts the suspended coroutine on the ready list.
    void wake();

    /// Records what the coroutine is about to wait for. wake() clears it.
    void waits_for(WaitReason reason) { reason_ = reason; }

    [[nodiscard]] Simulation& simulation() const { return *simulation_; }
    [[nodiscard]] const Process* process() const { return process_; }
    [[nodiscard]] EventKind kind() const {
        return process_ == nullptr ? EventKind::foreground : process_->kind;
    }
    [[nodiscard]] const WaitReason& reason() const { return reason_; }
    [[nodiscard]] bool started() const { return simulation_ != nullptr; }
    [[nodiscard]] bool finished() const { return finished_; }

    void resume() { handle_.resume(); }
    /// Sets the join to notify at the end. Requires started() and !finished().
    void notify(Join* join) { join_ = join; }
    void rethrow_failure() const {
        if (error_) std::rethrow_exception(error_);
    }

    // Called by the compiler.
    static void* operator new(std::size_t size) { return FramePool::of_thread().take(size); }
    static void operator delete(void* frame, std::size_t size) noexcept {
        FramePool::of_thread().give_back(frame, size);
    }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
        struct Finish {
            Coroutine& self;
            static bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) const noexcept { self.finish(); }
            void await_resume() const noexcept {}
        };
        return Finish{*this};
    }
    void unhandled_exception() { error_ = std::current_exception(); }

  protected:
    explicit Coroutine(std::coroutine_handle<> handle) : handle_(handle) {}
    ~Coroutine() = default;

  private:
    void finish() noexcept;

    std::coroutine_handle<> handle_;
    Simulation* simulation_ = nullptr;
    const Process* process_ = nullptr;
    Join* join_ = nullptr;
    std::exception_ptr error_;
    WaitReason reason_;
    bool finished_ = false;
};

inline void Join::arrive() {
    if (needed_ == 0) return;
    if (--needed_ == 0 && waiter_ != nullptr) waiter_->wake();
}

using WaitingList = IntrusiveList<Coroutine, WaitingTag>;
using AliveList = IntrusiveList<Coroutine, AliveTag>;

}  // namespace paceline
