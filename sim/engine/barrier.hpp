// A meeting point of a number of coroutines, used again and again.
//
// Who comes waits until all have come; the last one wakes the others, in the order of their coming,
// and goes on itself without waiting. One that is cancelled while it waits has not come. If fewer
// are to come from now on, those who are there may be all.
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
        explicit Arrive(Barrier& barrier) : barrier_(barrier) {}
        Arrive(const Arrive&) = delete;
        Arrive& operator=(const Arrive&) = delete;
        ~Arrive() {
            if (waits_ && generation_ == barrier_.generation_) --barrier_.arrived_;
        }

        [[nodiscard]] bool await_ready() const {
            if (barrier_.arrived_ + 1 < barrier_.parties_) return false;
            barrier_.open();
            return true;
        }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) {
            Coroutine& waiter = handle.promise();
            waiter.waits_for({"the others at a barrier"});
            barrier_.waiters_.push_back(waiter);
            ++barrier_.arrived_;
            generation_ = barrier_.generation_;
            waits_ = true;
        }
        void await_resume() { waits_ = false; }

      private:
        Barrier& barrier_;
        unsigned generation_ = 0;
        bool waits_ = false;
    };

    /// How many are to come. Requires 1 or more.
    void expect(int parties) {
        PACELINE_CHECK(parties >= 1, "a barrier has one party or more");
        parties_ = parties;
        if (arrived_ >= parties_) open();
    }

    /// Meetings that have taken place.
    [[nodiscard]] unsigned meetings() const { return generation_; }

    /// co_await barrier.arrive()
    [[nodiscard]] Arrive arrive() { return Arrive(*this); }

  private:
    void open() {
        arrived_ = 0;
        ++generation_;
        while (!waiters_.empty()) waiters_.pop_front().wake();
    }

    int parties_;
    int arrived_ = 0;
    unsigned generation_ = 0;  // tells a waiter whether its meeting has taken place
    WaitingList waiters_;
};

}  // namespace paceline
