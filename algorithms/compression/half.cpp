#include "algorithms/compression/half.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace paceline {

double to_half(double x) {
    constexpr int fraction_bits = 10;
    constexpr int least_exponent = -14;
    constexpr double greatest = 65504;
    if (x == 0 || !std::isfinite(x)) return x;
    const int step = std::max(std::ilogb(x), least_exponent) - fraction_bits;
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
    if (std::abs(rounded) <= greatest) return rounded;
    return std::copysign(std::numeric_limits<double>::infinity(), x);
}

void cast_to_half(std::span<double> x) {
    for (double& v : x) v = to_half(v);
}

Compressor make_half() {
    Compressor compressor;
    compressor.name = "fp16";
    compressor.combining = Combining::summable;
    compressor.bits = [](const Tensor& tensor) { return 16 * tensor.entries(); };
    compressor.apply = [](std::span<double> x, const Tensor& /*tensor*/, RandomStream& /*random*/) {
        cast_to_half(x);
    };
    return compressor;
}

}  // namespace paceline
