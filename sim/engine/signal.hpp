// A one-time event that wakes everyone waiting for it.
//
// co_await signal.happened() waits until fire() is called. If fire() has already been called, it
// does not wait.
#pragma once

#include <coroutine>

#include "sim/engine/coroutine.hpp"

namespace paceline {

class Signal {
  public:
    Signal() = default;
    Signal(const Signal&) = delete;
    Signal& operator=(const Signal&) = delete;

    /// Wakes all waiters, in the order in which they started to wait.
    void fire() {
        fired_ = true;
        while (!waiters_.empty()) waiters_.pop_front().wake();
    }
    [[nodiscard]] bool fired() const { return fired_; }

    class [[nodiscard]] Happened {
      public:
        Happened(Signal& signal, WaitReason reason) : signal_(signal), reason_(reason) {}
        Happened(const Happened&) = delete;
        Happened& operator=(const Happened&) = delete;

        [[nodiscard]] bool await_ready() const { return signal_.fired_; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) {
            Coroutine& waiter = handle.promise();
            waiter.waits_for(reason_);
            signal_.waiters_.push_back(waiter);
        }
        static void await_resume() {}

      private:
        Signal& signal_;
        WaitReason reason_;
    };

    /// `reason` names what the coroutine waits for; it is reported if the run ends first.
    [[nodiscard]] Happened happened(WaitReason reason = {"something that did not happen"}) {
        return {*this, reason};
    }

  private:
    WaitingList waiters_;
    bool fired_ = false;
};

}  // namespace paceline
