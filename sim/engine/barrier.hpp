// A reusable barrier for a fixed number of coroutines.
//
// An arriving coroutine waits until all parties have arrived. The last one wakes the others in
// order of arrival and continues without waiting. A coroutine that is cancelled while it waits no
// longer counts as arrived. Lowering the number of parties with expect() opens the barrier if
// enough have already arrived.
#pragma once

#include <coroutine>

#include "sim/engine/check.hpp"
#include "sim/engine/coroutine.hpp"

namespace paceline {

class Barrier {
  public:
    /// Requires parties >= 1.
    explicit Barrier(int parties) : parties_(parties) {
        PACELINE_CHECK(parties >= 1, "a barrier has one party or more");
    }
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;

    class [[nodiscard]] Arrive {
      public:
        Arrive(Barrier& barrier, int parties) : barrier_(barrier), parties_(parties) {}
        Arrive(const Arrive&) = delete;
        Arrive& operator=(const Arrive&) = delete;
        ~Arrive() {
            if (waits_ && generation_ == barrier_.generation_) barrier_.arrived_ -= parties_;
        }

        [[nodiscard]] bool await_ready() const {
            if (barrier_.arrived_ + parties_ < barrier_.parties_) return false;
            barrier_.open();
            return true;
        }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) {
            Coroutine& waiter = handle.promise();
            waiter.waits_for({"the others at a barrier"});
            barrier_.waiters_.push_back(waiter);
            barrier_.arrived_ += parties_;
            generation_ = barrier_.generation_;
            waits_ = true;
        }
        void await_resume() { waits_ = false; }

      private:
        Barrier& barrier_;
        int parties_;
        unsigned generation_ = 0;
        bool waits_ = false;
    };

    /// Sets the number of parties from now on, and opens the barrier if that many already wait.
    /// Requires parties >= 1.
    void expect(int parties) {
        PACELINE_CHECK(parties >= 1, "a barrier has one party or more");
        parties_ = parties;
        if (arrived_ >= parties_) open();
    }

    /// Returns how often the barrier has opened.
    [[nodiscard]] unsigned times_opened() const { return generation_; }

    /// co_await barrier.arrive(); for several parties at once: co_await barrier.arrive(parties)
    [[nodiscard]] Arrive arrive(int parties = 1) { return {*this, parties}; }

  private:
    void open() {
        arrived_ = 0;
        ++generation_;
        while (!waiters_.empty()) waiters_.pop_front().wake();
    }

    int parties_;
    int arrived_ = 0;
    unsigned generation_ = 0;  // shows a waiter whether its barrier has opened
    WaitingList waiters_;
};

}  // namespace paceline
