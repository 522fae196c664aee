// What members of a ring pass on in a round (PassedChunks), and how long it is on their wires.
//
// In a round, messages have one of two sizes, which differ by a byte; members with the longer one
// are a range around the ring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/align/aligned_allocator.hpp>

#include "sim/ahead/message_rounds.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

class RingChunks {
  public:
    using Ticks = std::int64_t;
    /// By place, from the beginning of a cache line on: a vector that an instruction reads lies in
    /// one.
    using TicksOfPlaces = std::vector<Ticks, boost::alignment::aligned_allocator<Ticks, 64>>;

    /// Times stay below this, so that no sum of two overflows.
    static constexpr Ticks most_ticks = std::int64_t{1} << 61U;

    /// Begins anew. `wires[p]` leads from p to the next place. Returns false if times could be out
    /// of range for members that begin by `latest`, if each round takes at most the time of a
    /// message, its latency and `more` besides.
    bool begin(const MessageRounds& rounds, const std::vector<Wire>& wires, Time latest,
               Duration more);

    /// Members first .. past-1, around the ring, have a chunk that is a byte longer. Whether the
    /// slice of that round is longer for them (inner) and for the others (outer).
    struct Longer {
        std::size_t first;
        std::size_t past;
        bool inner;
        bool outer;
    };
    [[nodiscard]] Longer longer_in(int round) const;

    /// Calls act(times, low, high) for ranges low .. high-1 of the members first .. last-1, where
    /// times[p] is how long the message of member p in the round of `longer` is on its wire.
    template <class Act>
    void for_each_range(const Longer& longer, std::size_t first, std::size_t last,
                        const Act& act) const {
        const Ticks* const outer = times_of(longer.outer).data();
        const Ticks* const inner = times_of(longer.inner).data();
        const auto part = [&](const Ticks* times, std::size_t low, std::size_t high) {
            low = std::max(low, first);
            high = std::min(high, last);
            if (low < high) act(times, low, high);
        };
        const std::size_t n = times_.size();
        if (longer.past <= n) {
            part(outer, 0, longer.first);
            part(inner, longer.first, longer.past);
            part(outer, longer.past, n);
        } else {
            part(inner, 0, longer.past - n);
            part(outer, longer.past - n, longer.first);
            part(inner, longer.first, n);
        }
    }

    /// Returns what a member sends in the first rounds.
    [[nodiscard]] Bytes sent(int place, int rounds) const;
    /// Returns how long that was on its links.
    [[nodiscard]] Duration on_wire(int place, int rounds, const Wire& wire) const;

  private:
    [[nodiscard]] const TicksOfPlaces& times_of(bool is_longer) const {
        return is_longer ? longer_times_ : times_;
    }

    const MessageRounds* rounds_ = nullptr;
    TicksOfPlaces times_;         // of the shorter size
    TicksOfPlaces longer_times_;  // of the longer one
};

}  // namespace paceline
