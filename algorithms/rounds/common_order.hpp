// An order of things that one worker decides while the job runs and all workers follow, such as the
// order in which pieces of a gradient travel. Following it costs no message: a released system
// fixes it before the run, or decides by what is the same everywhere.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/signal.hpp"

namespace paceline {

class CommonOrder {
  public:
    /// Decides what comes next, and wakes those that wait for it.
    void append(std::size_t item) {
        items_.push_back(item);
        signal(items_.size() - 1).fire();
    }
    /// co_await order.decided(k) waits until it is decided what comes in place k.
    [[nodiscard]] Signal::Happened decided(std::size_t k) {
        return signal(k).happened({"the order of worker 0"});
    }
    /// Returns what comes in place k. Requires that it is decided.
    [[nodiscard]] std::size_t at(std::size_t k) const {
        PACELINE_CHECK(k < items_.size(), "a place is asked for after it is decided");
        return items_[k];
    }

  private:
    Signal& signal(std::size_t k) {
        while (signals_.size() <= k) signals_.emplace_back();
        return signals_[k];
    }

    std::vector<std::size_t> items_;
    std::deque<Signal> signals_;  // of the places that are decided or waited for
};

}  // namespace paceline
