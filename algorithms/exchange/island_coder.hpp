// Exchanges between islands (runtime/island.hpp): what every device of an island has is the same,
// so nothing is added up inside before it travels.
//
//   one lane      the first device encodes the vector, which travels among the first devices of all
//                 islands; it decodes the aggregate and broadcasts it inside
//   several       device p encodes its chunk, which travels in lane p; it decodes the aggregate of
//                 that chunk. An all-gather inside follows, unless parameters stay in shards
//
// A codec's memory stands with the device that encodes. What travels inside is dense, in the job's
// wire format. This is a coder that decodes while it travels.
#pragma once

#include "algorithms/coders/coder.hpp"

namespace paceline {

/// Requires a worker that is an island, and a flat aggregation. `channel` is the communication
/// stream (Worker::group).
CoderPtr make_island_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                           const CoderPlace& place, int channel);

}  // namespace paceline
