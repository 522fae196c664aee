// What a run whose nodes fail must lead to, besides the laws of all results (judge.hpp).
//
//   ends       The outcome is finished, target or time-limit. It is deadlock only if a node that is
//              waited for never returns, and the report says so, or if links are down for ever. It
//              never takes seconds of wall clock.
//   accounts   What a worker's time is booked on does not exceed the run.
//   end        A run with a number of steps is over when those present have taken theirs.
//   memory     What a run holds at its end is bounded by the number of its workers alone
//              (Cluster::held, messages and lanes of the network, events, waiting processes): also
//              if it runs four times as long.
//   work       Events per simulated time do not become more and more.
//   idle       Failures that lie beyond the end change nothing where all would restart.
//   repeats    The same scenario gives the same bytes.
#pragma once

#include <filesystem>

#include "tests/fuzz/judge.hpp"

namespace paceline {

struct JudgeFailuresOptions {
    bool twice = true;           // also judges whether it repeats
    bool longer = true;          // also judges memory and work of longer runs
    bool idle = true;            // also judges failures beyond the end
    double most_seconds = 60.0;  // of wall clock, per run
};

/// Reads the scenario in a file, which has "cluster.failures", and runs its first point several
/// times.
Verdict judge_failures(const std::filesystem::path& file, const JudgeFailuresOptions& options = {});

}  // namespace paceline
