// An order of things that one worker decides while the job runs and all workers follow, such as the
// order in which pieces of a gradient travel. Following it costs no message: a released system
// fixes it before the run, or decides by what is the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
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

/// The orders for which some workers have not asked yet.
class CommonOrders {
  public:
    explicit CommonOrders(int workers) : workers_(workers) {}

    /// Returns an order by its channel and number. Requires that each worker asks for it once.
    [[nodiscard]] std::shared_ptr<CommonOrder> at(int channel, std::int64_t number) {
        const auto place = asked_.try_emplace({channel, number}).first;
        std::shared_ptr<CommonOrder> order = place->second.order;
        if (++place->second.workers == workers_) asked_.erase(place);
        return order;
    }
    [[nodiscard]] std::size_t size() const { return asked_.size(); }
    void clear() { asked_.clear(); }

  private:
    struct Asked {
        std::shared_ptr<CommonOrder> order = std::make_shared<CommonOrder>();
        int workers = 0;  // that have asked
    };

    int workers_;
    std::map<std::pair<int, std::int64_t>, Asked> asked_;  // by channel and number
};

}  // namespace paceline
