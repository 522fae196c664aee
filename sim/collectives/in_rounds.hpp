// Runs a member's part of a collective that is given as rounds (sim/ahead/message_rounds.hpp):
// ahead of the event queue where nothing else can touch its messages (sim/ahead/ahead.hpp),
// otherwise, or from an interruption on, message by message. The times are the same.
#pragma once

#include "sim/ahead/message_rounds.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

Task<> in_rounds(Rank self, MessageRounds rounds);

}  // namespace paceline
