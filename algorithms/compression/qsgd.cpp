#include "algorithms/compression/qsgd.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include <boost/random/uniform_01.hpp>

namespace paceline {

namespace {

void quantize_bucket(std::span<double> x, double levels, RandomStream& random) {
    double squares = 0;
    for (const double v : x) squares += v * v;
    const double norm = std::sqrt(squares);
    if (norm == 0) return;
    boost::random::uniform_01<double> uniform;
    for (double& v : x) {
        const double exact = levels * (std::abs(v) / norm);
        const double below = std::floor(exact);
        const double level = uniform(random) < exact - below ? below + 1 : below;
        v = std::copysign(norm * level / levels, v);
    }
}

}  // namespace

Compressor make_qsgd(QsgdOptions options) {
    Compressor compressor;
    compressor.name = "qsgd";
    compressor.unbiased = true;
    compressor.encode = 2;
    // ceil(log2(2s + 1)), because 2s + 1 is not a power of two
    const auto entry_bits =
        static_cast<std::int64_t>(std::bit_width(2 * static_cast<std::uint64_t>(options.levels)));
    compressor.entry_bits = static_cast<int>(entry_bits);
    compressor.bits = [=](const Tensor& tensor) {
        const std::int64_t d = tensor.entries();
        return d * entry_bits + 32 * ((d + options.bucket - 1) / options.bucket);
    };
    compressor.apply = [=](std::span<double> v, const Tensor& /*tensor*/, RandomStream& random) {
        const auto bucket = static_cast<std::size_t>(options.bucket);
        for (std::size_t first = 0; first < v.size(); first += bucket)
            quantize_bucket(v.subspan(first, std::min(bucket, v.size() - first)),
                            static_cast<double>(options.levels), random);
    };
    return compressor;
}

}  // namespace paceline
