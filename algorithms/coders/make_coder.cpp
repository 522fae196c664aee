#include "algorithms/coders/make_coder.hpp"

#include <utility>
#include <variant>

#include "algorithms/coders/compressed_coder.hpp"
#include "algorithms/coders/low_rank_coder.hpp"
#include "algorithms/coders/one_bit_coder.hpp"
#include "algorithms/coders/sparse_coder.hpp"

namespace paceline {

CoderPtr make_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                    CoderPlace place) {
    if (std::holds_alternative<Compressor>(codec.coder))
        return make_compressed_coder(self, codec, aggregation, std::move(place));
    if (std::holds_alternative<LowRankCodec>(codec.coder))
        return make_low_rank_coder(self, codec, aggregation, std::move(place));
    if (std::holds_alternative<OneBitCodec>(codec.coder))
        return make_one_bit_coder(self, codec, aggregation, place);
    DgcMemoryPtr memory = dgc_memory_at(self, place);
    return make_sparse_coder(self, codec, aggregation, std::move(place), std::move(memory));
}

}  // namespace paceline
