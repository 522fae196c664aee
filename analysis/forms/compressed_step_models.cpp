#include "analysis/forms/compressed_step_models.hpp"

#include <cstdint>

namespace paceline {

Bytes form_of_packed(const Compressor& compressor, const Layout& layout) {
    std::int64_t bits = 0;
    for (const Tensor& tensor : layout.tensors())
        bits += tensor.left_out ? 32 * tensor.entries() : compressor.bits(tensor);
    return {bits / 8 + (bits % 8 == 0 ? 0 : 1)};
}

}  // namespace paceline
