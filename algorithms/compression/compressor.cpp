#include "algorithms/compression/compressor.hpp"

#include <cstddef>

namespace paceline {

std::int64_t message_bits(const Compressor& compressor, const Layout& layout) {
    std::int64_t bits = 0;
    for (const Tensor& tensor : layout.tensors()) bits += compressor.bits(tensor.entries());
    return bits;
}

Bytes message_bytes(const Compressor& compressor, const Layout& layout) {
    return {(message_bits(compressor, layout) + 7) / 8};
}

void compress(const Compressor& compressor, Vector& x, RandomStream& random) {
    if (!x.has_values()) return;
    Eigen::VectorXd& values = x.writable();
    const std::span<double> all(values.data(), static_cast<std::size_t>(values.size()));
    const Layout& layout = *x.layout();
    for (std::size_t j = 0; j < layout.tensors().size(); ++j)
        compressor.apply(all.subspan(static_cast<std::size_t>(layout.offset(j)),
                                     static_cast<std::size_t>(layout.tensors()[j].entries())),
                         random);
}

Duration encoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t extra) {
    return coding_time(cost, compressor.encode + extra, layout.entries());
}

Duration decoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t messages) {
    std::int64_t held = 0;
    for (const Tensor& tensor : layout.tensors()) held += compressor.held(tensor.entries());
    return coding_time(cost, messages * compressor.decode, held);
}

}  // namespace paceline
