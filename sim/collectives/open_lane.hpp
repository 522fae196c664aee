// Waits for what a round waits for whose collective was handed over (sim/ahead/ahead.hpp).
#pragma once

#include <coroutine>

#include "sim/ahead/ahead.hpp"
#include "sim/engine/coroutine.hpp"

namespace paceline {

class [[nodiscard]] OpenLaneEnds {
  public:
    OpenLaneEnds(OpenLane& lane, WaitReason reason) : lane_(lane), reason_(reason) {}

    [[nodiscard]] bool await_ready() const noexcept { return lane_.join.complete(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& member = handle.promise();
        member.waits_for(reason_);
        lane_.join.wake(member);
    }
    static void await_resume() noexcept {}

  private:
    OpenLane& lane_;
    WaitReason reason_;
};

}  // namespace paceline
