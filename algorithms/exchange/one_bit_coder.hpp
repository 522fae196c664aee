// DeepSpeed's compressed all-reduce as a codec: signs and one scale per buffer, encoded by workers and by
// the owners of chunks (one_bit_all_reduce.hpp). It has its own two-phase messages, and cannot travel
// otherwise. All of its coding takes place while it travels.
#pragma once

#include "algorithms/exchange/coder.hpp"

namespace paceline {

CoderPtr make_one_bit_coder(Worker& self, const Codec& codec, CoderPlace place);

}  // namespace paceline
