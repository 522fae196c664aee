// A collective that runs ahead, or was handed over before all its members had entered: what Ahead knows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/event_queue.hpp"
#include "sim/network/ahead.hpp"
#include "sim/network/ring_times.hpp"
#include "sim/network/round_times.hpp"

namespace paceline {

class AheadRun {
  public:
    explicit AheadRun(Ahead& owner) : ahead(owner) {}

    /// Begins anew; what was allocated is kept.
    void begin(const MessageRounds& of_rounds, Stream of_stream, std::uint64_t of_number,
               EventKind of_kind);

    [[nodiscard]] std::size_t count() const { return hosts.size(); }
    [[nodiscard]] bool is_here(int place) const { return entries[at(place)] != never; }
    [[nodiscard]] int host(int place) const { return hosts[at(place)]; }
    static std::size_t at(int place) { return static_cast<std::size_t>(place); }
    void end_member(std::uint32_t place) { ahead.member_ends(*this, static_cast<int>(place)); }
    void end_all(std::uint32_t /*unused*/) { ahead.all_end(*this); }

    Ahead& ahead;
    MessageRounds rounds{};
    Stream stream = 0;
    std::uint64_t number = 0;  // in the order in which collectives began
    EventKind kind = EventKind::foreground;
    bool by_events = false;  // members that still enter do
    bool has_halves = false;
    bool takes_no_time = false;  // a ring whose wires do not
    int entered = 0;
    int inside = 0;
    std::vector<int> hosts;             // [place]
    std::vector<Time> entries;          // [place]; never: absent
    std::vector<AheadTicket*> tickets;  // [place]; null before the entry and after the end
    std::vector<EventId> ends;          // [place]
    std::vector<Wire> up, down;         // [place], if it has halves and is no ring
    std::vector<Wire> ring_wires;       // [place]: to the next place, while a ring is worked out
    std::vector<RoundTraffic>
        traffic;  // [place], in all rounds, if it is no ring; known when its end is
    RoundTimes times;
    RingTimes ring;
};

}  // namespace paceline
