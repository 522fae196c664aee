// A member's part of a collective in slices whose receivers grant slots ahead of time
// (sim/ahead/message_rounds.hpp), by events.
//
// One task per slot posts a receive, takes the slice out, and posts the next one when the sender
// knows of it; another task sends each slice when its data are there.
#pragma once

#include "sim/ahead/ahead.hpp"
#include "sim/ahead/message_rounds.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

/// A token for each slice that has been received and was not passed on yet.
using Received = Channel<bool>;

/// Receives `count` slices from a place, into so many slots, by events.
Task<> receive_in_slots(const Rank& self, int from, int count, int slots, Received& received);

/// Takes all rounds, or after a handover those that were open and all behind them. `self` and
/// `ticket` must outlive the task.
Task<> slots_by_events(const Rank& self, MessageRounds rounds, AheadTicket& ticket);

}  // namespace paceline
