#include "algorithms/compression/eight_bit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace paceline {

namespace {

constexpr double greatest_level = 255;

// Leaves a bucket that is not finite as it is, so that training diverges as with dense exchange.
void quantize(std::span<double> x) {
    const auto [least, greatest] = std::ranges::minmax(x);
    const double scale = greatest_level / (greatest - least);
    if (!std::isfinite(scale) || !(scale > 0)) return;
    const double highest = std::nearbyint(scale * greatest);
    for (double& v : x)
        v = std::clamp(std::nearbyint(scale * v), highest - greatest_level, highest) / scale;
}

std::int64_t bucket_of(EightBitOptions options, std::int64_t entries) {
    return options.bucket > 0 ? options.bucket : std::max<std::int64_t>(entries, 1);
}

}  // namespace

Compressor make_eight_bit(EightBitOptions options) {
    Compressor compressor;
    compressor.name = "8-bit";
    compressor.encode = 2;
    compressor.bits = [=](const Tensor& tensor) {
        const std::int64_t d = tensor.entries();
        const std::int64_t bucket = bucket_of(options, d);
        return 8 * d + 64 * ((d + bucket - 1) / bucket);
    };
    compressor.apply = [=](std::span<double> x, const Tensor& tensor, RandomStream& /*random*/) {
        const auto bucket = static_cast<std::size_t>(bucket_of(options, tensor.entries()));
        for (std::size_t first = 0; first < x.size(); first += bucket)
            quantize(x.subspan(first, std::min(bucket, x.size() - first)));
    };
    return compressor;
}

}  // namespace paceline
