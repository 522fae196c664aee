// What results must not depend on: how collectives are simulated, and who watches.
//
//   plain     collectives run ahead of the event queue wherever they can
//   events    PACELINE_EVENTS=1: each message is an event
//   links     as `paceline run --links`: each message is reported, so each is an event
//   trace     as `paceline run --trace`
//
// All four give the same rows of results. Watched by an observer of sums, the first two also give
// the same picoseconds for every step of every worker, the same bytes for every host, and the same
// use of every link.
#pragma once

#include <filesystem>

#include "tests/fuzz/judge.hpp"

namespace paceline {

/// Reads the scenario in a file and runs its first point in all ways. Each may take `most_seconds`
/// of wall clock; a run that takes longer is not compared.
Verdict judge_ways(const std::filesystem::path& file, double most_seconds = 0.5);

}  // namespace paceline
