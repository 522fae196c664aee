// The times of rings that share cards: member p of each ring is a device of machine p, and the
// messages of all of them to the next machine leave through one card
// (sim/collectives/plans/hierarchical.hpp).
//
// G rings of n members. Hop p are the links from place p to the next one. They carry the messages
// of member p of each ring, and nothing else. With C_p the smallest capacity that is shared, L the
// latency, o the sender's overhead, and K_p(t) how many messages are on it, those of ring i are
//
//   send_ip(k)   =  max(b_ip(k), b_i,p+1(k)) + o
//   b_ip(k+1)    =  max(drain_ip(k), drain_i,p-1(k) + L)
//   rate of each message on hop p at t   =   min(B_p, C_p / K_p(t))
//
// by the recurrence of sim/ahead/message_rounds.hpp, except that a wire's time is that of a
// processor that is shared. The rate is the max-min share (sim/network/max_min.hpp): all links of
// the hop that are shared have the same messages, and what bounds each message by itself, B_p, is
// the same for all.
//
// K_p changes when a message sets out and when one drains, which depends on the hops on both sides.
// So times are worked out instant by instant, in the order of time over all hops. An instant costs
// a path through a tree of hops, and an update of each message on its hop. Rates are set at the end
// of an instant, and rounded in the doubles of Network::apply_rate, so that times are those of
// events to the picosecond.
//
// Rings with equal vectors, wires and entries have equal times. They are followed as one, whose
// messages count several times in K_p.
//
// Source: own derivation from the rules of sim/network/network.hpp. Cost, with G the rings that
// differ: O(log n + G) for each instant of a hop, of which there are at most two per message, and
// three for all G if rings are in step. Memory: O(n G).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/ahead/message_rounds.hpp"
#include "sim/ahead/round_times.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

class CardTimes {
  public:
    /// `wires[p]` leads from p to the next place; entries are `never` of members that are absent.
    struct Ring {
        const MessageRounds& rounds;
        const std::vector<Wire>& wires;
        const std::vector<Time>& entries;
    };
    /// Begins anew. The rings pass whole chunks, one at a time, and have equally many members and
    /// rounds. `alone` is the capacity of each hop for a message alone, the same for all of them
    /// that are here, and `shared` that of the links that they share. There are at most
    /// `most_abreast`.
    void begin(std::span<const Ring> rings, const std::vector<Bandwidth>& alone,
               const std::vector<Bandwidth>& shared);

    /// Takes instants before `until`, at most so many. Returns whether some are left.
    bool run_before(Time until, int instants);
    /// Returns whether all members have ended their rounds.
    [[nodiscard]] bool have_ended() const { return ended_ == members_.size(); }

    // Of a member that has ended.
    [[nodiscard]] Time end(int ring, int place) const { return time(of(ring, place).begin); }
    [[nodiscard]] EventRank ends_by(int ring, int place) const { return of(ring, place).ends_by; }

    /// What a member is at: its messages are those of the open round, if it is known when they set
    /// out. Sizes and `apart` are not known here.
    struct Standing {
        int round = 0;
        Time begin{};
        RoundMessage sent{};
        RoundMessage received{};
    };
    /// Requires that the member is here, and that all instants before `now` have been taken.
    [[nodiscard]] Standing standing(int ring, int place, Time now) const;
    /// Of the member's message, if it is on the hop.
    [[nodiscard]] FlowProgress progress(int ring, int place) const;

  private:
    using Ticks = std::int64_t;
    static constexpr Ticks unknown = never.time_since_epoch().count();

    /// Rings that are alike.
    struct Like {
        int count;
        std::int64_t shorter;  // chunk
        int first_longer;      // chunks from this one on are a byte longer
    };
    struct Member {
        int round = -1;  // that is open; -1: absent
        EventRank ends_by = EventRank::drains;
        Ticks begin = unknown;  // of the round; its end, if all have ended
        Ticks drained = unknown;
        Ticks arrived = unknown;         // may lie ahead
        Ticks drained_before = unknown;  // in the round before
        Ticks arrived_before = unknown;
    };
    /// That a member has sent last.
    struct Message {
        int round = -1;
        int chunk = 0;
        std::int64_t size = 0;
        Ticks set_out = unknown;
        Ticks start = unknown;  // of its flow
        Ticks drain = unknown;
        Ticks since = 0;  // as in FlowProgress
        double remaining = 0;
        double rate = 0;  // 0: not set yet
    };
    struct Hop {
        Bandwidth alone{};  // of a message
        double bound = 0;
        double shared = 0;
        std::uint64_t preparing = 0;  // rings whose message has set out and does not flow yet
        std::uint64_t flowing = 0;    // rings whose message is on the hop
        int messages = 0;             // of these
        bool changed = false;         // in this instant
    };

    static Time time(Ticks ticks) { return Time{Duration{ticks}}; }
    [[nodiscard]] std::size_t index(int ring, int place) const {
        return static_cast<std::size_t>(place) * rings_ + static_cast<std::size_t>(ring);
    }
    [[nodiscard]] const Member& of(int ring, int place) const {
        return members_[index(like_[static_cast<std::size_t>(ring)], place)];
    }
    [[nodiscard]] static bool are_alike(const Ring& a, const Ring& b);
    void enter(const Ring& ring, int number);
    [[nodiscard]] int next(int place) const { return place + 1 < n_ ? place + 1 : 0; }
    [[nodiscard]] int before(int place) const { return place > 0 ? place - 1 : n_ - 1; }

    [[nodiscard]] int earliest_hop() const;
    void set_next(int hop, Ticks at);
    void visit(int place, Ticks now);
    void drains(int ring, int place, Ticks now);
    void end_round(int ring, int place);
    void meet(int ring, int place);
    void set_out(int ring, int place);
    void set_rates(int place, Ticks now);

    int n_ = 0;
    int count_ = 0;
    std::size_t rings_ = 0;  // that differ; below, a ring is one of these
    std::size_t ended_ = 0;
    std::vector<int> like_;          // [ring of begin()]
    std::vector<Like> likes_;        // [ring]
    std::vector<Member> members_;    // [place * rings + ring]
    std::vector<Message> messages_;  // likewise, by the sender
    std::vector<Ticks> overhead_;    // likewise
    std::vector<Ticks> latency_;     // likewise
    std::vector<Hop> hops_;          // [place]
    std::vector<int> changed_;       // hops
    std::vector<Ticks> tree_;  // of minima over hops; leaves from width on: a hop's next instant
    std::size_t width_ = 1;
};

}  // namespace paceline
