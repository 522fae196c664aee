#include "algorithms/compression/signs.hpp"

#include <cmath>
#include <cstddef>

namespace paceline {

namespace {

double sign_of(double v) {
    return static_cast<double>(v > 0) - static_cast<double>(v < 0);
}

void to_signs(std::span<double> x) {
    for (double& v : x) v = v >= 0 ? 1 : -1;
}

void to_scaled_signs(std::span<double> x) {
    double norm = 0;
    for (const double v : x) norm += std::abs(v);
    const double scale = norm / static_cast<double>(x.size());
    for (double& v : x) v = scale * sign_of(v);
}

}  // namespace

Compressor make_sign() {
    Compressor compressor;
    compressor.name = "sign";
    compressor.entry_bits = 1;
    compressor.bits = [](const Tensor& tensor) { return tensor.entries(); };
    compressor.apply = [](std::span<double> x, const Tensor& /*tensor*/, RandomStream& /*random*/) {
        to_signs(x);
    };
    return compressor;
}

Compressor make_scaled_sign() {
    Compressor compressor;
    compressor.name = "scaled-sign";
    compressor.encode = 2;
    compressor.entry_bits = 1;
    compressor.bits = [](const Tensor& tensor) { return tensor.entries() + 32; };
    compressor.apply = [](std::span<double> x, const Tensor& /*tensor*/, RandomStream& /*random*/) {
        to_scaled_signs(x);
    };
    return compressor;
}

}  // namespace paceline
