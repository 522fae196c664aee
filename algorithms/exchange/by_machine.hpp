// Exchanges by machine, and by levels above it: inside each group, between groups, inside again.
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
// With levels (coders/aggregation.hpp), step 2 is the same exchange again, by the next level: the
// leaders of machines hand their vectors to the leader of their region, or the devices i of a
// region scatter chunk i among them; the codec encodes what goes between the groups of the last
// level. A group has as many members as it has groups of the level below, and g and p are those of
// the level.
//
// The mean of the machines' means is the mean, because machines have equally many devices. Of k
// groups of different sizes, the leader of w of n workers multiplies its mean by w k / n. A codec's
// memory of step 2 stands with the leader, or with the device of the chunk: what a machine has not
// sent yet. This is a coder whose parts all take place while it travels. Dense vectors inside weigh
// 4 bytes an entry; between machines of a group they have the wire format, if the codec is none.
// Deaths of workers are not provided for.
#pragma once

#include "algorithms/coders/coder.hpp"

namespace paceline {

/// Requires aggregation.machines other than flat, and that all workers stand on machines of
/// aggregation.devices, or levels of all workers whose groups have equally many members where they
/// go by shards. `channel` is the communication stream (Worker::group).
CoderPtr make_coder_by_machine(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                               const CoderPlace& place, int channel);

}  // namespace paceline
