// Predicts the cost of a run before it starts: for `paceline check`, for the order in which points
// are handed out, and for the time left. The prediction is good to a small factor; the time left is
// corrected as runs finish.
#pragma once

#include <optional>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns the number of messages of the run. Where only a time limit ends it and no closed form
/// gives the number of steps, they are as many as could be computed. Returns nothing if computing
/// takes no time either, or if steps repeat with a period of millions.
std::optional<double> expected_messages(const Scenario& scenario);

/// Returns the seconds on one core if the network is idle. Contended messages cost several times as
/// much, and those of rings that run ahead of the event queue far less. A run that trains also
/// takes the gradients of its workers, what their algorithm does with vectors of the model's size,
/// and evaluations. Steps are counted as for messages.
std::optional<double> expected_seconds(const Scenario& scenario);

/// Returns the seconds of one core in which data sets of this size are generated, which points
/// share.
double seconds_to_generate(Bytes data);

/// Returns whether the run may end much earlier than expected: at a target, or because its steps
/// take longer than they compute.
bool may_end_earlier(const Scenario& scenario);

/// Returns the simulated seconds until the end of the run, from the closed form or a time limit.
std::optional<double> expected_sim_seconds(const Scenario& scenario);

}  // namespace paceline
