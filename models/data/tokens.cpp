#include "models/data/tokens.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

Eigen::MatrixXi cut_tokens(std::span<const int> stream, int steps) {
    PACELINE_CHECK(steps >= 1, "a sample predicts a token or more");
    const auto predicted = static_cast<Eigen::Index>(stream.size()) - 1;
    const Eigen::Index samples = predicted > 0 ? predicted / steps : 0;
    Eigen::MatrixXi tokens(steps + 1, samples);
    for (Eigen::Index j = 0; j < samples; ++j)
        tokens.col(j) = Eigen::Map<const Eigen::VectorXi>(stream.data() + j * steps, steps + 1);
    return tokens;
}

}  // namespace paceline
