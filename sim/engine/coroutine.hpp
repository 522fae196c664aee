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
#include <string>
#include <utility>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

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
struct Process : boost::intrusive_ref_counter<Process, boost::thread_unsafe_counter> {
    Process(std::string called, EventKind of_kind) : kind(of_kind), name(std::move(called)) {}

    EventKind kind;
    std::string name;
};
using ProcessPtr = boost::intrusive_ptr<const Process>;

/// Returns a new process.
[[nodiscard]] inline ProcessPtr make_process(std::string name,
                                             EventKind kind = EventKind::foreground) {
    return {new Process(std::move(name), kind)};
}

/// What a suspended coroutine waits for, as text plus one number ("a message from node" 3). For
/// reports.
struct WaitReason {
    const char* what = nullptr;  // a string literal; nullptr while it waits for its own child
    int subject = -1;            // not printed when negative
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

/// Base of all promises. Aligned as they are, also where pointers have 32 bits.
class alignas(std::int64_t) Coroutine : public ListHook<WaitingTag>, public ListHook<AliveTag> {
  public:
    /// Starts the lazy coroutine in `simulation` on behalf of a process (nullptr: none).
    void begin(Simulation& simulation, const Process* process, Join* join);
    /// The same, but puts it on the ready list. Nobody is notified of its end.
    void begin_later(Simulation& simulation, const Process* process);
    /// Starts it for a parent that awaits it. Returns whether it has finished already; otherwise
    /// its end wakes the parent.
    bool begin_for(Coroutine& parent);

    /// Puts the suspended coroutine on the ready list.
    void wake();

    /// Records what the coroutine is about to wait for. wake() clears it.
    void waits_for(WaitReason reason) {
        waits_for_ = reason.what;
        subject_ = reason.subject;
    }

    [[nodiscard]] Simulation& simulation() const { return *simulation_; }
    [[nodiscard]] const Process* process() const { return process_; }
    [[nodiscard]] EventKind kind() const {
        return process_ == nullptr ? EventKind::foreground : process_->kind;
    }
    [[nodiscard]] WaitReason reason() const { return {waits_for_, subject_}; }
    [[nodiscard]] bool started() const { return simulation_ != nullptr; }
    [[nodiscard]] bool finished() const { return handle().done(); }

    void resume() { handle().resume(); }
    /// Sets the coroutine that its end wakes. Requires started() and !finished().
    void wakes(Coroutine& parent) {
        notifies_ = Notifies::parent;
        notified_ = &parent;
    }
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
    Coroutine() = default;
    ~Coroutine() = default;

  private:
    /// Whom its end notifies. Nobody yet: the parent that is starting it.
    enum class Notifies : std::uint8_t { nobody, nobody_yet, join, parent };

    void finish() noexcept;
    void enter(Simulation& simulation, const Process* process);
    // A promise begins with its Coroutine, and stands where its alignment says (see Task).
    [[nodiscard]] std::coroutine_handle<> handle() const {
        return std::coroutine_handle<Coroutine>::from_promise(const_cast<Coroutine&>(*this));
    }

    Simulation* simulation_ = nullptr;
    const Process* process_ = nullptr;
    void* notified_ = nullptr;  // a Join, or a Coroutine
    std::exception_ptr error_;
    const char* waits_for_ = nullptr;
    int subject_ = -1;
    Notifies notifies_ = Notifies::nobody;
};

inline void Join::arrive() {
    if (needed_ == 0) return;
    if (--needed_ == 0 && waiter_ != nullptr) waiter_->wake();
}

using WaitingList = IntrusiveList<Coroutine, WaitingTag>;
using AliveList = IntrusiveList<Coroutine, AliveTag>;

}  // namespace paceline
