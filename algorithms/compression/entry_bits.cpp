#include "algorithms/compression/entry_bits.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace paceline {

Compressor with_entry_bits(Compressor compressor, int bits) {
    const std::int64_t more = bits - compressor.entry_bits;
    compressor.entry_bits = bits;
    compressor.bits = [more, packed = std::move(compressor.bits)](const Tensor& tensor) {
        return packed(tensor) + more * tensor.entries();
    };
    if (compressor.bits_of_sum) {
        compressor.bits_of_sum =
            [message = compressor.bits, sum = std::move(compressor.bits_of_sum)](
                const Tensor& tensor, int n) { return std::max(sum(tensor, n), message(tensor)); };
    }
    return compressor;
}

}  // namespace paceline
