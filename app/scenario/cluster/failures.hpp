// The "failures" of a cluster: when nodes are away, and how the others react.
//
//   {"schedule": [{"node": 3, "at": "10s", "for": "20s"}, {"node": 5, "at": "0s", "for": "1min"}],
//    "on_death": "go-on", "detection": "5s", "return_from": "peer"}
//   {"mean_between": "4h", "mean_repair": "10min", "on_death": "restart",
//    "checkpoint": {"every": "20min", "write": "30s", "read": "30s"}}
//   {"trace": {"file": "phones.csv", "period": "24h"}}
//
// An absence in a schedule without "for" is permanent; one that starts at "0s" makes the node a
// late joiner. "mean_between" is the mean time that a node is present, "mean_repair" the mean time
// that it is then away. Both times are exponential, independent for each node, and drawn from the
// stream "failures" of the seed. The header of a trace names node, leaves_s and returns_s, in any
// order; its times repeat with the period, if it has one. A node that returns earlier in the period
// than it leaves is away around its end, and so at the beginning. Without a period, "never" stands
// for a return that does not come. algorithms/lives/failures.hpp defines the semantics.
//
// Nodes are machines: one that dies takes all its devices along. An island of several machines is
// away while any of them is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/lives/failures.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/algorithm_choice.hpp"
#include "app/scenario/nodes/node_list.hpp"

namespace paceline {

/// The absences of one node, in order. With a period, they recur in each period.
struct AbsenceTrace {
    std::vector<std::vector<Absence>> absences;  // by node; the last may end in the next period
    std::optional<Duration> period;
};

struct FailureChoice {
    std::vector<std::vector<Absence>> schedule;  // by node; empty: none
    std::optional<Duration> mean_between;
    Duration mean_repair{};
    std::optional<std::vector<int>> nodes;  // that "mean_between" applies to; empty: all
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

/// Reads the failures of a cluster and draws a share of its nodes, which is noted in `drawn`.
/// Throws ConfigError.
FailureChoice read_failures(const Place& place, NodeDraw draw, std::vector<DrawnNodes>& drawn);

/// Refuses failures that the algorithm cannot handle on machines of so many devices.
void check_failures(const Place& place, const FailureChoice& failures,
                    const AlgorithmChoice& algorithm, int devices_per_node);

/// Returns the failures of a run on these machines, with absences drawn anew from the seed.
Failures make_failures(const FailureChoice& choice, const AlgorithmChoice& algorithm,
                       const std::vector<std::vector<int>>& machines, std::uint64_t seed);

/// Returns the absences of groups of nodes, each of which is away while any of its nodes is.
NextAbsence absences_of_groups(NextAbsence of_node, std::vector<std::vector<int>> groups);

}  // namespace paceline
