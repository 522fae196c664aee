// DeepSpeed's compressed all-reduce as a codec: signs and one scale per buffer, encoded by workers
// and by the owners of chunks (one_bit_all_reduce.hpp). It has its own two-phase messages, and
// cannot travel otherwise. All of its coding takes place while it travels.
//
// Tensors that are left out are in no buffer. Behind the buffers a dense all-reduce averages them,
// in 32 bits an entry; they take no coding. This part is this project's own: DeepSpeed's buffers
// hold every tensor.
#pragma once

#include "algorithms/coders/coder.hpp"

namespace paceline {

/// The aggregation says how chunks come to their owners, and how tensors are averaged that are left
/// out.
CoderPtr make_one_bit_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                            const CoderPlace& place);

}  // namespace paceline
