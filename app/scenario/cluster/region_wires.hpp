// The wires of the fabric "regions": nodes by region, and a pipe for each ordered pair of regions.
//
//   "regions": [{"name": "east", "nodes": 3}, {"name": "west", "nodes": 2, "link": ...}],
//   "link": ..., "bandwidth": [[null, "1Gbps"], ["2Gbps", null]], "latency": "30ms"
//
//   nodes       of the region, in order; regions that state none have equal parts of the rest
//   link        of each of its nodes; default: the fabric's
//   bandwidth   of the pipes, [from][to]; one value is for all; latency (one way) and loss alike
//
// The diagonal of a matrix is null.
#pragma once

#include "app/json/object_reader.hpp"
#include "topologies/fabrics/regions.hpp"

namespace paceline {

/// Returns the known keys of a region. A test checks scenario.schema.json against them.
Keys region_keys();

/// Throws ConfigError, also if the regions do not have all nodes.
Regions read_region_wires(const ObjectReader& read, int nodes);

}  // namespace paceline
