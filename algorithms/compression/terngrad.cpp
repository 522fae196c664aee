#include "algorithms/compression/terngrad.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Core>
#include <boost/random/uniform_01.hpp>

#include "sim/numeric/sums.hpp"

namespace paceline {

namespace {

constexpr double clipped_at = 2.5;  // standard deviations

double clip_of(std::span<const double> tensor) {
    const auto n = static_cast<double>(tensor.size());
    const std::vector<double> means(tensor.size(), sum(tensor) / n);
    const double sigma = std::sqrt(squared_distance(tensor, means) / n);
    return sigma > 0 ? clipped_at * sigma : std::numeric_limits<double>::infinity();
}

double greatest_clipped(std::span<const double> tensor) {
    if (tensor.empty()) return 0;
    const Eigen::Map<const Eigen::ArrayXd> x(tensor.data(),
                                             static_cast<Eigen::Index>(tensor.size()));
    return std::min(x.abs().maxCoeff(), clip_of(tensor));
}

// Rounds the entries, clipped, to multiples of a scaler that is not less than any of them.
void round_to(double scaler, std::span<double> tensor, RandomStream& random) {
    if (tensor.empty() || scaler == 0) return;
    const double clip = clip_of(tensor);
    Eigen::Map<Eigen::ArrayXd> x(tensor.data(), static_cast<Eigen::Index>(tensor.size()));
    if (std::isfinite(clip)) x = x.max(-clip).min(clip);
    boost::random::uniform_01<double> uniform;
    for (double& v : tensor) {
        const bool kept = uniform(random) < std::abs(v) / scaler;
        v = kept ? std::copysign(scaler, v) : 0;
    }
}

}  // namespace

Compressor make_terngrad() {
    Compressor compressor;
    compressor.name = "terngrad";
    compressor.unbiased = true;
    compressor.encode = 3;
    compressor.entry_bits = 2;
    compressor.bits = [](const Tensor& tensor) { return 2 * tensor.entries() + 32; };
    compressor.apply = [](std::span<double> x, const Tensor& /*tensor*/, RandomStream& random) {
        round_to(greatest_clipped(x), x, random);
    };
    return compressor;
}

Compressor make_shared_terngrad() {
    Compressor compressor = make_terngrad();
    compressor.name = "shared terngrad";
    compressor.combining = Combining::summable;
    compressor.bits_of_sum = [](const Tensor& tensor, int n) {
        const auto values = 2 * static_cast<std::uint64_t>(n);  // and 0
        return tensor.entries() * static_cast<std::int64_t>(std::bit_width(values)) + 32;
    };
    compressor.scaler = &greatest_clipped;
    compressor.apply_scaled = [](std::span<double> x, double scaler, RandomStream& random) {
        round_to(scaler, x, random);
    };
    return compressor;
}

}  // namespace paceline
