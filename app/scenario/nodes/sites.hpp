// The levels of a cluster above the machine: which nodes stand together (sim/engine/levels.hpp).
//
// A fabric has levels of its own: the "leaf" of leaf-spine, the "leaf" and the "pod" of a fat tree,
// the "side" of a dumbbell, the "cell" of radio cells, the "region" of regions. "sites" names
// others, from the finest to the coarsest:
//
//   "sites": [{"level": "rack", "size": 2},
//             {"level": "site", "groups": [[0, 1, 2, 3], {"from": 4, "to": 7}]}]
//
//   groups   lists of nodes (node_list.hpp); every node is in one
//   size     groups of so many nodes, in order; the last may have fewer
//
// Nodes are those of the fabric. The levels of a job that is placed on some of them are its own
// machines, grouped in the same way. Each level of "sites" lies within the next. Those of the
// fabric may lie across them: what uses several levels checks that these nest.
#pragma once

#include <span>
#include <vector>

#include "app/json/object_reader.hpp"
#include "sim/engine/levels.hpp"

namespace paceline {

Keys site_keys();

/// Reads "sites". `of_fabric` are the levels that the fabric has by itself. Throws ConfigError,
/// also if a level is not a partition of the nodes, or does not lie within the next.
std::vector<Level> read_sites(const Place& place, int nodes,
                              std::span<const Levels::Named> of_fabric);

/// Returns the levels of a job: those of its fabric, then its own. Machine i of the job is at node
/// placement[i] of the fabric, or at node i if that is empty.
Levels levels_of_job(int machines, std::span<const Levels::Named> of_fabric,
                     const std::vector<Level>& own, const std::vector<int>& placement);

}  // namespace paceline
