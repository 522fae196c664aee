// The features of an exchange that has been read, held to the rules (exchange_rules.hpp).
#pragma once

#include <string_view>

#include "algorithms/coders/codec.hpp"
#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/aggregations/exchange_rules.hpp"

namespace paceline {

Features features_of(const Codec& codec);
Features features_of(const AggregationChoice& aggregation);
Features features_of(const ScheduleChoice& choice);

/// Refuses features that do not go together, at the key that states one of them. `algorithm` has
/// the keys "codec", "aggregation" and "schedule", or some of them.
void check_exchange(const Place& algorithm, Features features);

/// Returns whether an exchange with these features is flat and could go by machine, by leaders.
bool could_have_leaders(Features features);

/// Returns why the survivors of a failure cannot go on with such an exchange; empty if they can.
std::string_view why_survivors_cannot_go_on(Features features);

}  // namespace paceline
