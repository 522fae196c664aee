// The recurrence of sim/ahead/message_rounds.hpp for chunks that all members of a ring pass on,
// once all of them have entered: a few vector instructions per four messages.
//
// All members take a few rounds at a time. A round is two passes over arrays by place.
//
// Memory: O(members x rounds in flight). Cost: a quarter to half a nanosecond per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/ahead/message_rounds.hpp"
#include "sim/ahead/ring_chunks.hpp"
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
    [[nodiscard]] const RingChunks& chunks() const { return chunks_; }

  private:
    using Ticks = RingChunks::Ticks;
    using TicksOfPlaces = RingChunks::TicksOfPlaces;

    // A round that is being taken.
    struct Round {
        Ticks* begin;
        RingChunks::Longer longer;
    };

    void take_rounds(int count);
    void drain_places(const Round& round, std::size_t first, std::size_t last);
    void end_places(const Round& round, std::size_t first, std::size_t last);
    void run_blocks_before(Time now, int rounds);

    const MessageRounds* rounds_ = nullptr;
    std::size_t n_ = 0;
    std::size_t width_ = 1;
    int round_ = 0;
    bool ends_at_once_ = false;
    std::vector<TicksOfPlaces> begins_;  // [round % in_flight]; place n is place 0
    TicksOfPlaces drain_;
    RingChunks chunks_;
    TicksOfPlaces latency_before_;  // of the wire that leads to the place
    TicksOfPlaces set_out_;         // in the last round
};

}  // namespace paceline
