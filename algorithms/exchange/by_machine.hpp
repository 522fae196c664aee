// Exchanges by machine: inside each machine over its bus, between machines, and inside again.
//
// g workers on each of p machines; worker r is device r mod g of machine r / g.
//
//   leaders   1. devices reduce their vectors to the first device, dense; or encode them, and the
//                leader decodes and adds up g messages
//             2. leaders encode the machine's mean, which travels among them, and decode
//             3. the leader hands the aggregate to its devices, dense; or passes on what it has
//                received, and every device decodes
//   shards    1. ring reduce-scatter: device i has chunk i of g of the machine's mean
//             2. the devices i of all machines encode, exchange and decode their chunks
//             3. ring all-gather of the chunks inside
//
// The mean of the machines' means is the mean, because machines have equally many devices. A
// codec's memory of step 2 stands with the leader, or with the device of the chunk: what a machine
// has not sent yet. This is a coder whose parts all take place while it travels. Dense vectors
// inside weigh 4 bytes an entry. Deaths of workers are not provided for.
#pragma once

#include "algorithms/coders/coder.hpp"

namespace paceline {

/// Requires aggregation.machines other than flat, and that all workers stand on machines of
/// aggregation.devices. `channel` is the communication stream (Worker::group).
CoderPtr make_coder_by_machine(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                               const CoderPlace& place, int channel);

}  // namespace paceline
