#include "algorithms/compression/compressor.hpp"

#include <cstddef>

namespace paceline {

namespace {

std::int64_t bits_unencoded(const Tensor& tensor) {
    return 32 * tensor.entries();
}

Bytes whole_bytes(std::int64_t bits) {
    return {(bits + 7) / 8};
}

}  // namespace

std::int64_t message_bits(const Compressor& compressor, const Layout& layout) {
    std::int64_t bits = 0;
    for (const Tensor& tensor : layout.tensors())
        bits += tensor.left_out ? bits_unencoded(tensor) : compressor.bits(tensor);
    return bits;
}

Bytes message_bytes(const Compressor& compressor, const Layout& layout) {
    return whole_bytes(message_bits(compressor, layout));
}

Bytes sum_bytes(const Compressor& compressor, const Layout& layout, int n) {
    if (!compressor.bits_of_sum) return message_bytes(compressor, layout);
    std::int64_t bits = 0;
    for (const Tensor& tensor : layout.tensors())
        bits += tensor.left_out ? bits_unencoded(tensor) : compressor.bits_of_sum(tensor, n);
    return whole_bytes(bits);
}

void compress(const Compressor& compressor, Vector& x, RandomStream& random) {
    if (!x.has_values()) return;
    Eigen::VectorXd& values = x.writable();
    const std::span<double> all(values.data(), static_cast<std::size_t>(values.size()));
    const Layout& layout = *x.layout();
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Tensor& tensor = layout.tensors()[j];
        if (tensor.left_out || tensor.entries() == 0) continue;
        compressor.apply(all.subspan(static_cast<std::size_t>(layout.offset(j)),
                                     static_cast<std::size_t>(tensor.entries())),
                         tensor, random);
    }
}

namespace {

std::int64_t encoded_entries(const Layout& layout) {
    std::int64_t entries = layout.entries();
    for (const Tensor& tensor : layout.tensors())
        if (tensor.left_out) entries -= tensor.entries();
    return entries;
}

std::int64_t encoded_tensors(const Layout& layout) {
    std::int64_t tensors = 0;
    for (const Tensor& tensor : layout.tensors())
        if (!tensor.left_out && tensor.entries() > 0) ++tensors;
    return tensors;
}

}  // namespace

Duration encoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t extra) {
    if (cost.measured)
        return cost.measured->encode.of(encoded_tensors(layout), encoded_entries(layout));
    const std::int64_t passes = compressor.encode + extra;
    return passes == 0 ? Duration::zero() : coding_time(cost, passes, encoded_entries(layout));
}

Duration decoding_time(const Compressor& compressor, const CodingCost& cost, const Layout& layout,
                       std::int64_t messages) {
    if (compressor.decode == 0 && !cost.measured) return Duration::zero();
    std::int64_t held = 0;
    for (const Tensor& tensor : layout.tensors())
        if (!tensor.left_out) held += compressor.held(tensor);
    if (cost.measured)
        return multiple(messages, cost.measured->decode.of(encoded_tensors(layout), held));
    return coding_time(cost, messages * compressor.decode, held);
}

}  // namespace paceline
