// The times of messages that set out together and share links: the group of an all-to-all
// (sim/collectives/all_to_all.hpp), by rendezvous and on links that nothing else uses.
//
// n members, each with one link of capacity C up and one down (or several in a row, the narrowest
// of which counts). A message between two members sets out when both have entered. Let K(t) be how
// many have entered by then.
//
//   rate of every message at t   =   C / (K(t) - 1)
//
// if either all members enter in one instant, or all blocks have one size. Proof that this is its
// max-min share (sim/network/max_min.hpp): no link has more than K - 1 messages, so no share is
// smaller; it remains to find a link with K - 1 messages on the way of each message.
//   one instant     All messages to j are alike and drain together, so the link down to j has n - 1
//                   until then.
//   one size        Messages have one rate, so they drain in the order in which they set out, those
//                   of one instant together. Of two members, take the one that entered later. All
//                   of its messages set out then or later, so none of them has drained: its links
//                   have K - 1 each.
//
// Where neither holds, the collective goes by events from that entry on. Rates, and what is left
// when a rate changes, are worked out in the doubles of Network::apply_rate, so that times are
// those of events to the picosecond.
//
// Source: own derivation. Cost: O(1) per message, for its size; and O(instants^2) per collective.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/ahead/message_rounds.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

class GroupedTimes {
  public:
    /// A message: when it sets out and drains, and how far it has come at the last change of its
    /// rate.
    struct Flow {
        Time set_out = never;
        Time drain = never;
        FlowProgress progress{};
    };

    /// Begins anew. `rounds` must outlive the use.
    void begin(const MessageRounds& rounds);
    /// A member enters whose links have this capacity, not before those that are here. Returns
    /// false, and leaves the member out, if times do not follow any more.
    bool enter(int place, Time at, Bandwidth capacity);
    /// Works out the messages among the members that are here.
    void work_out();

    // After that, of two members that are here.
    [[nodiscard]] bool is_here(int place) const { return instant_of_[at(place)] != absent; }
    [[nodiscard]] Flow flow(int from, int to) const;
    /// Returns the size of each message to that member.
    [[nodiscard]] Bytes block(int to) const { return blocks_[at(to)]; }

  private:
    struct Instant {
        Time at;
        int inside = 0;  // members that have entered by then
    };
    static constexpr std::size_t absent = ~std::size_t{0};
    static constexpr Bytes unknown{-1};
    static std::size_t at(int place) { return static_cast<std::size_t>(place); }

    [[nodiscard]] bool note_blocks(int place);
    [[nodiscard]] double rate_among(int members) const;
    [[nodiscard]] Flow flow_from(std::size_t instant, Bytes size) const;

    const MessageRounds* rounds_ = nullptr;
    Bandwidth capacity_{};
    std::vector<std::size_t> instant_of_;  // [place]
    std::vector<Bytes> blocks_;            // [place]
    std::vector<Instant> instants_;
    std::vector<Flow> flows_;  // [instant in which they set out], if there are several
    Bytes some_block_ = unknown;
    bool has_one_size_ = true;
};

}  // namespace paceline
