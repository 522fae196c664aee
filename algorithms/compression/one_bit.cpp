#include "algorithms/compression/one_bit.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

OneBitBuffers cut_at(LayoutPtr layout, int workers, const std::vector<std::int64_t>& sizes) {
    OneBitBuffers cut{std::move(layout), workers, {}, nullptr};
    std::int64_t offset = 0;
    std::int64_t padded_offset = 0;
    for (const std::int64_t entries : sizes) {
        const std::int64_t padded = one_bit_padded(entries, workers);
        cut.buffers.push_back({offset, entries, padded_offset, padded});
        offset += entries;
        padded_offset += padded;
    }
    cut.padded = std::make_shared<const Layout>(std::vector<Tensor>{{"padded", {padded_offset}}});
    return cut;
}

// Returns the signs of a part times its scale, and subtracts them from the part.
template <class Part>
Eigen::VectorXd take_signs(Part part) {
    const double scale = norm(part) / std::sqrt(static_cast<double>(part.size()));
    Eigen::VectorXd said =
        (part.array() >= 0).select(scale, Eigen::VectorXd::Constant(part.size(), -scale));
    part -= said;
    return said;
}

}  // namespace

std::int64_t one_bit_padded(std::int64_t entries, int workers) {
    const std::int64_t n = workers;
    const std::int64_t multiple = n * (8 * n / std::gcd(n, std::int64_t{8}));
    return (entries + multiple - 1) / multiple * multiple;
}

OneBitBuffers fused_buffer(LayoutPtr layout, int workers) {
    const std::int64_t entries = layout->entries();
    return cut_at(std::move(layout), workers, {entries});
}

OneBitBuffers buffer_per_tensor(LayoutPtr layout, int workers) {
    std::vector<std::int64_t> sizes;
    for (const Tensor& tensor : layout->tensors()) sizes.push_back(tensor.entries());
    return cut_at(std::move(layout), workers, sizes);
}

Eigen::VectorXd one_bit_encode(const OneBitBuffers& cut, const Eigen::VectorXd& x,
                               Eigen::VectorXd& error) {
    PACELINE_CHECK(x.size() == cut.layout->entries(), "what is encoded has the layout's size");
    PACELINE_CHECK(error.size() == cut.padded->entries(), "an error is padded");
    Eigen::VectorXd said(error.size());
    for (const OneBitBuffer& buffer : cut.buffers) {
        auto a = error.segment(buffer.padded_offset, buffer.padded);
        a.head(buffer.entries) += x.segment(buffer.offset, buffer.entries);
        said.segment(buffer.padded_offset, buffer.padded) = take_signs(a);
    }
    return said;
}

Eigen::VectorXd one_bit_reduce(const OneBitBuffers& cut, const Eigen::VectorXd& mean,
                               Eigen::VectorXd& owner_errors) {
    PACELINE_CHECK(mean.size() == cut.padded->entries(), "what workers encode is padded");
    PACELINE_CHECK(owner_errors.size() == mean.size(), "an owner's error is padded");
    owner_errors += mean;
    Eigen::VectorXd result(cut.layout->entries());
    for (const OneBitBuffer& buffer : cut.buffers) {
        const std::int64_t chunk = buffer.padded / cut.workers;
        Eigen::VectorXd whole(buffer.padded);
        for (std::int64_t j = 0; j < cut.workers; ++j)
            whole.segment(j * chunk, chunk) =
                take_signs(owner_errors.segment(buffer.padded_offset + j * chunk, chunk));
        result.segment(buffer.offset, buffer.entries) = whole.head(buffer.entries);
    }
    return result;
}

Bytes one_bit_bytes(const OneBitBuffers& cut) {
    Bytes bytes;
    for (const OneBitBuffer& buffer : cut.buffers) bytes += Bytes{buffer.padded / 8 + 4};
    return bytes;
}

}  // namespace paceline
