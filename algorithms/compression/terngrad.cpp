#include "algorithms/compression/terngrad.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <boost/random/uniform_01.hpp>

#include "sim/numeric/sums.hpp"

namespace paceline {

namespace {

void ternarize(std::span<double> tensor, RandomStream& random) {
    if (tensor.empty()) return;
    Eigen::Map<Eigen::ArrayXd> x(tensor.data(), static_cast<Eigen::Index>(tensor.size()));
    const auto n = static_cast<double>(tensor.size());
    const std::vector<double> means(tensor.size(), sum(tensor) / n);
    const double sigma = std::sqrt(squared_distance(tensor, means) / n);
    if (sigma > 0) x = x.max(-2.5 * sigma).min(2.5 * sigma);
    const double most = x.abs().maxCoeff();
    if (most == 0) return;
    boost::random::uniform_01<double> uniform;
    for (double& v : tensor) {
        const bool kept = uniform(random) < std::abs(v) / most;
        v = kept ? std::copysign(most, v) : 0;
    }
}

}  // namespace

Compressor make_terngrad() {
    Compressor compressor;
    compressor.name = "terngrad";
    compressor.unbiased = true;
    compressor.encode = 3;
    compressor.bits = [](const Tensor& tensor) {
        const std::int64_t d = tensor.entries(); return 2 * d + 32; };
    compressor.apply = [](std::span<double> x, const Tensor& /*tensor*/, RandomStream& random) {
        ternarize(x, random);
    };
    return compressor;
}

}  // namespace paceline
