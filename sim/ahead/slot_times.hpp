// The recurrence of a ring whose receivers grant slots ahead of time
// (sim/ahead/message_rounds.hpp): a few vector instructions per four messages, as in
// ring_times.hpp.
//
// All members take a round at a time. A round depends on arrivals of m = data_lag and of w = slots
// rounds before, so those are kept. Members that have not entered begin at the end of time, and so
// does all that depends on them: the same pass tells what has happened by an instant in which some
// of them are still away.
//
// Memory: O(members x max(m, w)). Cost: about a nanosecond per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/ahead/message_rounds.hpp"
#include "sim/ahead/ring_chunks.hpp"
#include "sim/ahead/round_times.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

class SlotTimes {
  public:
    /// Begins anew. `wires[p]` leads from p to the next place, and `way_back[p]` is the latency
    /// from there to p. Entries of members that are away are `never`. Returns false if a time could
    /// be out of range, which members_by() allows, or a link is down, which it does if no two
    /// neighbors that are here need it.
    bool begin(const MessageRounds& rounds, const std::vector<Wire>& wires,
               const std::vector<Duration>& way_back, const std::vector<Time>& entries);

    /// Takes so many rounds, but not the last one. Returns whether only that one is left.
    bool run_on(int rounds);
    /// Takes all rounds that are left.
    void run_to_end();

    // Of the last round, after run_to_end().
    [[nodiscard]] Time end(int place) const;
    [[nodiscard]] EventRank ends_by(int place) const;
    /// Returns whether a member ends in the instant in which its last message sets out
    /// (RoundTimes::failed).
    [[nodiscard]] bool ends_at_once() const { return ends_at_once_; }

    /// What a member has done by an instant.
    struct Member {
        int drained = 0;    // rounds whose message has
        int delivered = 0;  // rounds whose message to it was
        /// Its message of round `drained`; times that do not follow from who has entered are
        /// `never`.
        RoundMessage next{};
        std::vector<Time> posts{};             // when it is ready for rounds delivered, ...
        std::vector<RoundMessage> crossing{};  // those of rounds delivered, ... that have drained
    };
    /// Returns what members have done, by RoundTimes::HasHappened. Requires that begin() was just
    /// called.
    [[nodiscard]] std::vector<Member> members_by(const RoundTimes::HasHappened& happened,
                                                 const std::vector<Wire>& wires);

    [[nodiscard]] const RingChunks& chunks() const { return chunks_; }

  private:
    using Ticks = std::int64_t;

    [[nodiscard]] const std::vector<Ticks>& arrivals(int round) const {
        return arrivals_[static_cast<std::size_t>(round) % arrivals_.size()];
    }
    [[nodiscard]] const std::vector<Ticks>& ready() const;
    [[nodiscard]] const std::vector<Ticks>& slot_free() const;
    [[nodiscard]] const std::vector<Ticks>& way_back() const;
    [[nodiscard]] Ticks sets_out(std::size_t place) const;
    void take_round();
    std::vector<Ticks> take_saturating_round();

    const MessageRounds* rounds_ = nullptr;
    std::size_t n_ = 0;
    int round_ = 0;
    bool ends_at_once_ = false;
    RingChunks chunks_;
    std::vector<Ticks> entries_;                // place n is place 0
    std::vector<std::vector<Ticks>> arrivals_;  // [round % size][place]; place n is place 0
    std::vector<Ticks> drain_;
    std::vector<Ticks> latency_;
    std::vector<Ticks> way_back_;
    std::vector<Ticks> no_time_;  // of the first grants, which are known on entry
};

}  // namespace paceline
