// Runs a member's part of a collective that is given as rounds (sim/ahead/message_rounds.hpp):
// ahead of the event queue where nothing else can touch its messages (sim/ahead/ahead.hpp),
// otherwise, or from an interruption on, message by message. The times are the same.
#pragma once

#include "sim/ahead/message_rounds.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

Task<> in_rounds(Rank self, MessageRounds rounds);

/// What ring_of_chunks is made of, but for the members.
struct RingOfChunks {
    int steps;
    int first;
    Bytes size;
    int slices = 1;
    int in_flight = 1;
    int slots = 0;
};

/// The same for a ring of chunks, whose rounds a member makes when it needs them.
Task<> in_ring(Rank self, RingOfChunks ring);

// What in_ring consists of, for a caller whose own frame waits, so that a member that runs ahead
// needs no other:
//
//   AheadTicket ticket;
//   if (enter_ring(self, ring, ticket)) co_await EndsAhead(ticket);
//   if (!ticket.has_ended()) co_await ring_by_events(self, ring, ticket);

/// The member enters. Returns whether it runs ahead.
bool enter_ring(const Rank& self, const RingOfChunks& ring, AheadTicket& ticket);
/// What is left of the ring, message by message. Requires that `self` and `ticket` outlive the
/// task.
Task<> ring_by_events(const Rank& self, const RingOfChunks& ring, AheadTicket& ticket);

}  // namespace paceline
