// The recurrence of sim/ahead/message_rounds.hpp for chunks that all members of a ring pass on,
// once all of them have entered: a few vector instructions per four messages.
//
// All members take a round at a time, so that a round is two passes over arrays by place. In a
// round, messages have one of two sizes, which differ by a byte; members with the longer one are a
// range around the ring.
//
// Memory: O(members x rounds in flight). Cost: about half a nanosecond per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/ahead/message_rounds.hpp"
#include "sim/ahead/round_times.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

class RingTimes {
  public:
    /// Begins anew. `wires[p]` leads from p to the next place. Returns false if a time could be out
    /// of range, or a link is down.
    bool begin(const MessageRounds& rounds, const std::vector<Wire>& wires,
               const std::vector<Time>& entries);

    /// Takes so many rounds, but not the last one. Returns whether only that one is left.
    bool run_on(int rounds);
    /// Takes all rounds that are left.
    void run_to_end();
    /// Takes rounds as long as all members end them before `now`. Returns where they stand then.
    [[nodiscard]] RoundTimes::Frontier run_before(Time now);

    // Of the last round, after run_to_end().
    [[nodiscard]] Time end(int place) const;
    [[nodiscard]] EventRank ends_by(int place) const;
    /// Returns whether a member ends in the instant in which its last message sets out
    /// (RoundTimes::failed).
    [[nodiscard]] bool ends_at_once() const { return ends_at_once_; }
    /// Returns what a member sends in the first rounds.
    [[nodiscard]] Bytes sent(int place, int rounds) const;
    /// Returns how long that was on its links.
    [[nodiscard]] Duration on_wire(int place, int rounds, const Wire& wire) const;

  private:
    using Ticks = std::int64_t;

    void take_round();
    void run_blocks_before(Time now, int rounds);
    [[nodiscard]] const std::vector<Ticks>& times_of(bool is_longer) const {
        return is_longer ? longer_times_ : times_;
    }

    const MessageRounds* rounds_ = nullptr;
    std::size_t n_ = 0;
    std::size_t width_ = 1;
    int round_ = 0;
    bool ends_at_once_ = false;
    std::vector<std::vector<Ticks>> begins_;  // [round % in_flight][place]; place n is place 0
    std::vector<Ticks> drain_;
    std::vector<Ticks> times_;         // [place]: of the shorter size
    std::vector<Ticks> longer_times_;  // of the longer one
    std::vector<Ticks> latency_;
    std::vector<Ticks> set_out_;  // in the last round
};

}  // namespace paceline
