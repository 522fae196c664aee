// The times of a collective's rounds, by the recurrence of sim/ahead/message_rounds.hpp.
//
// Members enter one by one, at times that do not decrease, and each entry is followed through to
// all that depends on it: a round of a member is known as soon as the entries that it depends on
// are. So members whose ends do not wait for everybody, as in a broadcast, end before others have
// entered.
//
// until(instant) restricts the recurrence to what has happened by that instant. What remains are
// the open rounds of members: which messages have been delivered, have drained, have set out, or
// wait for their receiver. That is how a collective that is interrupted goes on by events
// (sim/ahead/ahead_handover.cpp).
//
// Which of two things at one picosecond comes first is decided as in the queue of events
// (EventKey).
//
// Cost: O(1) per message. Memory: O(members x rounds in flight).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/ahead/message_rounds.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/stream.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

/// A message of a round. Times that are not known are `never`.
struct RoundMessage {
    Time set_out = never;
    Time drain = never;
    Time arrive = never;
    Bytes size{};
    bool apart = false;  // to another machine
};

/// A round that a member has begun.
struct OpenRound {
    RoundOfMember role;
    Time begin;
    RoundMessage sent{};
    RoundMessage received{};
};

/// What a member has exchanged in rounds that have ended.
struct RoundTraffic {
    Bytes sent{};               // to other machines
    Bytes received{};           // from other machines
    std::int64_t messages = 0;  // delivered
};

class RoundTimes {
  public:
    /// Returns the wire from one member to another. Asked for when both have begun a round in which
    /// they meet.
    using WireOf = std::function<Wire(int from, int to)>;
    /// Returns whether what happens at that time to a message of the member has happened by now.
    using HasHappened = std::function<bool(Time at, EventRank rank, int place)>;

    /// Begins anew; what was allocated is kept. `rounds` must outlive the use.
    void begin(const MessageRounds& rounds, WireOf wire);
    /// Knows nothing that has not happened yet.
    void until(HasHappened happened) { happened_ = std::move(happened); }
    /// Tells of each message of a round, when its sender has ended that round.
    using Report = std::function<void(int from, int to, const RoundMessage& message)>;
    void report_to(Report report) { report_ = std::move(report); }
    /// Requires that the member is absent.
    void enter(int place, Time at);

    /// Sets the state in which all members have ended the rounds before `round`, and the next ones
    /// begin, in turn, at begins[round % in_flight][place]; the last message before has drained at
    /// drain[place]. `traffic` is what members have exchanged until then.
    struct Frontier {
        int round = 0;
        std::vector<std::vector<std::int64_t>> begins;  // picoseconds
        std::vector<std::int64_t> drain;
    };
    void resume(const Frontier& frontier, const std::vector<RoundTraffic>& traffic);

    /// For rounds that are grouped: the member begins all of them, and `message` is what it sends
    /// in a round. Requires that its receiver has begun them, too.
    void open_all(int place, Time at);
    void put(int place, int round, const RoundMessage& message);

    /// Sets that a member stands in `round`, which it began then, with these messages, having
    /// exchanged `traffic` before. If both have happened, it has begun the next one. Requires that
    /// one round is open at a time.
    void stand(int place, int round, const OpenRound& at, const RoundTraffic& traffic);

    /// Members that have ended since they were last taken.
    [[nodiscard]] std::vector<int>& ended() { return ended_; }
    [[nodiscard]] bool has_ended(int place) const { return of(place).ended == rounds_->count; }
    [[nodiscard]] Time end(int place) const { return of(place).end; }
    /// Returns what ends the member's last round: its own message drains, or the other arrives.
    [[nodiscard]] EventRank ends_by(int place) const { return of(place).ends_by; }
    [[nodiscard]] const RoundTraffic& traffic(int place) const { return of(place).traffic; }
    /// Returns whether some time does not follow: it is out of range, a link is down, or a member
    /// ends in the very instant in which the last message sets out, so that its end has no fixed
    /// place in that instant.
    [[nodiscard]] bool failed() const { return failed_; }

    // The open rounds of a member that has entered: first_open .. last_open - 1.
    [[nodiscard]] int first_open(int place) const { return of(place).ended; }
    [[nodiscard]] int last_open(int place) const;
    [[nodiscard]] const OpenRound& open(int place, int round) const {
        return slots_[slot(place, round)];
    }
    /// Returns whether the member's part of that open round has happened: its message has drained,
    /// or it has none; the message to it was delivered, or there is none.
    [[nodiscard]] bool has_drained(int place, int round) const;
    [[nodiscard]] bool has_received(int place, int round) const;

  private:
    struct Member {
        int ended = 0;  // rounds
        int sent = 0;   // rounds whose message is known to drain, or that have none
        bool here = false;
        bool ends_at_once =
            true;  // what ends its last round happens as soon as the message has set out
        EventRank ends_by = EventRank::drains;
        Time last_drain;
        Time end = never;
        RoundTraffic traffic;
    };

    [[nodiscard]] const Member& of(int place) const {
        return members_[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] std::size_t slot(int place, int round) const {
        return static_cast<std::size_t>(place) * width_ + static_cast<std::size_t>(round) % width_;
    }
    [[nodiscard]] bool happened(Time at, EventRank rank, int place) const {
        return !happened_ || happened_(at, rank, place);
    }
    [[nodiscard]] bool has_begun(int place, int round) const {
        const Member& member = of(place);
        return member.here && round < member.ended + static_cast<int>(width_);
    }
    void begin_round(int place, int round, Time at);
    void propagate();
    bool send_next(int place);
    void set_out(int place, int round, Time at);
    bool end_next(int place);

    const MessageRounds* rounds_ = nullptr;
    WireOf wire_;
    HasHappened happened_;
    Report report_;
    std::size_t width_ = 1;
    std::vector<Member> members_;
    std::vector<OpenRound> slots_;  // [place * in_flight + round % in_flight]
    std::vector<int> work_;
    std::vector<int> ended_;
    bool failed_ = false;
};

}  // namespace paceline
