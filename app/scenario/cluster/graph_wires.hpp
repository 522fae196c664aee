// The wires of the fabric "graph": switches by name, and cables one by one.
//
//   "switches": ["s1"], "cables": [{"between": [0, "s1"], "link": ...}, {"between": [1, "s1"]}]
//
// A cable without a link of its own has the fabric's "link".
#pragma once

#include "app/json/object_reader.hpp"
#include "topologies/fabrics/graph.hpp"

namespace paceline {

/// Returns the known keys of a cable. A test checks scenario.schema.json against them.
Keys cable_keys();

/// Throws ConfigError, also if a node cannot reach another one.
Graph read_graph_wires(const ObjectReader& read, int nodes);

}  // namespace paceline
