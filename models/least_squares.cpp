#include "models/least_squares.hpp"

#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

Eigen::VectorXd least_squares(const Samples& samples, const std::vector<std::vector<int>>& shards,
                              bool bias, double decay, const std::vector<double>& weights) {
    PACELINE_CHECK(samples.targets.size() == samples.count(), "regression has targets");
    const Eigen::Index features = samples.inputs.rows();
    const Eigen::Index entries = features + (bias ? 1 : 0);
    Eigen::MatrixXd h = Eigen::MatrixXd::Identity(entries, entries) * decay;
    Eigen::VectorXd c = Eigen::VectorXd::Zero(entries);
    Eigen::VectorXd a = Eigen::VectorXd::Ones(entries);
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::vector<int>& shard = shards[i];
        const double weight = (weights.empty() ? 1.0 : weights[i]) /
                              static_cast<double>(shards.size() * shard.size());
        for (const int sample : shard) {
            a.head(features) = samples.inputs.col(sample).cast<double>();
            for (Eigen::Index j = 0; j < entries; ++j)
                h.col(j).tail(entries - j) += (weight * a(j)) * a.tail(entries - j);
            c += weight * static_cast<double>(samples.targets(sample)) * a;
        }
    }
    return shortest_solution(h, c);
}

}  // namespace paceline
