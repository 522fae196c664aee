// The "failures" of a cluster: when nodes are away, and what the others do then.
//
//   {"schedule": [{"node": 3, "at": "10s", "for": "20s"}, {"node": 5, "at": "0s", "for": "1min"}],
//    "on_death": "go-on", "detection": "5s", "return_from": "peer"}
//   {"mean_between": "4h", "mean_repair": "10min", "on_death": "restart",
//    "checkpoint": {"every": "20min", "write": "30s", "read": "30s"}}
//   {"trace": {"file": "phones.csv", "period": "24h"}}
//
// A schedule without "for" is for good; one from "0s" is a late joiner. "mean_between" is the mean
// time that a node is there, "mean_repair" the mean time that it is away after that; both
// exponential, of each node by itself, from the stream "failures" of the seed. A trace names node,
// leaves_s, returns_s in its header; its times repeat with the period, if it has one. What all of
// this means: algorithms/failures.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/failures.hpp"
#include "app/algorithms.hpp"
#include "app/object_reader.hpp"

namespace paceline {

/// The absences of one node, in order; those of a period again in each.
struct AbsenceTrace {
    std::vector<std::vector<Absence>> absences;  // by node
    std::optional<Duration> period;
};

struct FailureChoice {
    std::vector<std::vector<Absence>> schedule;  // by node; empty: none
    std::optional<Duration> mean_between;
    Duration mean_repair{};
    std::vector<int> nodes;  // that "mean_between" is of; empty: all
    std::optional<AbsenceTrace> trace;
    OnDeath on_death = OnDeath::go_on;
    std::optional<ReturnFrom> return_from;
    Duration detection{};
    std::optional<Checkpoints> checkpoints;
};

Keys failure_keys();
Keys absence_keys();
Keys absence_trace_keys();
Keys checkpoint_keys();

/// Of a cluster of so many nodes. Throws ConfigError.
FailureChoice read_failures(const Place& place, int nodes);

/// Refuses what the algorithm cannot do.
void check_failures(const Place& place, const FailureChoice& failures,
                    const AlgorithmChoice& algorithm);

/// With absences drawn anew from the seed.
Failures make_failures(const FailureChoice& choice, const AlgorithmChoice& algorithm, int nodes,
                       std::uint64_t seed);

}  // namespace paceline
