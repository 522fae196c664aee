// Runs a member's part of a collective that is given as rounds (sim/network/message_rounds.hpp): ahead of the event
// queue where nothing else can touch its messages (sim/network/ahead.hpp), otherwise, or from an
// interruption on, message by message. The times are the same.
#pragma once

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/network/message_rounds.hpp"

namespace paceline {

Task<> in_rounds(Rank self, MessageRounds rounds);

}  // namespace paceline
