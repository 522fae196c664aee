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

}  // namespace paceline
