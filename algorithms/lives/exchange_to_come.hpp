// An exchange that has begun, and whose messages come later, beside the steps that follow.
//
// Rounds are numbered in the order in which a worker begins them. A node that returns takes part
// from a step on, and goes on counting where the first worker that begins the step has arrived. So
// that worker must have begun all rounds of exchanges from earlier steps, in which the node has no
// part: at a step that begins with an exchange to come, nobody joins.
#pragma once

#include <utility>

#include "algorithms/lives/worker_state.hpp"

namespace paceline {

/// Lasts until the exchange has begun its last round, or until its worker dies.
class [[nodiscard]] ExchangeToCome {
  public:
    explicit ExchangeToCome(WorkerState& own) : own_(&own) { ++own.exchanges_to_come; }
    ExchangeToCome(ExchangeToCome&& other) noexcept : own_(std::exchange(other.own_, nullptr)) {}
    ExchangeToCome(const ExchangeToCome&) = delete;
    ExchangeToCome& operator=(const ExchangeToCome&) = delete;
    ExchangeToCome& operator=(ExchangeToCome&&) = delete;
    ~ExchangeToCome() { begins_its_last_round(); }

    void begins_its_last_round() {
        if (own_ != nullptr) --std::exchange(own_, nullptr)->exchanges_to_come;
    }

  private:
    WorkerState* own_;
};

}  // namespace paceline
