#include "algorithms/compression/natural.hpp"

#include <algorithm>
#include <cmath>

#include <boost/random/uniform_01.hpp>

namespace paceline {

namespace {

constexpr int least_exponent = -126;
constexpr int greatest_exponent = 127;

// Rounds |v| at random to one of its two neighbors among 0, 2^-126, .., 2^127.
double to_power_of_two(double magnitude, RandomStream& random) {
    boost::random::uniform_01<double> uniform;
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent-1), 2^exponent)
    const double least = std::ldexp(1.0, least_exponent);
    const double below = magnitude < least ? 0 : std::ldexp(1.0, exponent - 1);
    const double above = magnitude < least ? least : 2 * below;
    const bool up = uniform(random) < (magnitude - below) / (above - below);
    return std::min(up ? above : below, std::ldexp(1.0, greatest_exponent));
}

}  // namespace

Compressor make_natural() {
    Compressor compressor;
    compressor.name = "natural";
    compressor.unbiased = true;
    compressor.entry_bits = 9;
    compressor.bits = [](const Tensor& tensor) { return 9 * tensor.entries(); };
    compressor.apply = [](std::span<double> x, const Tensor& /*tensor*/, RandomStream& random) {
        for (double& v : x)
            if (v != 0 && std::isfinite(v))
                v = std::copysign(to_power_of_two(std::abs(v), random), v);
    };
    return compressor;
}

}  // namespace paceline
