#include "models/least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Of h x = c with a symmetric h that has no negative eigenvalue.
Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& h, const Eigen::VectorXd& c) {
    constexpr double least_condition = 1e-13;
    const Eigen::LLT<Eigen::MatrixXd> factors(h);
    if (factors.info() == Eigen::Success && factors.rcond() > least_condition)
        return factors.solve(c);
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> singular;
    singular.setThreshold(least_condition);
    return singular.compute(h).solve(c);
}

}  // namespace

Eigen::VectorXd least_squares(const Samples& samples, const std::vector<std::vector<int>>& shards,
                              bool bias, double decay) {
    PACELINE_CHECK(samples.targets.size() == samples.count(), "regression has targets");
    const Eigen::Index features = samples.inputs.rows();
    const Eigen::Index entries = features + (bias ? 1 : 0);
    Eigen::MatrixXd h = Eigen::MatrixXd::Identity(entries, entries) * decay;
    Eigen::VectorXd c = Eigen::VectorXd::Zero(entries);
    Eigen::VectorXd a = Eigen::VectorXd::Ones(entries);
    for (const std::vector<int>& shard : shards) {
        const double weight = 1.0 / static_cast<double>(shards.size() * shard.size());
        for (const int sample : shard) {
            a.head(features) = samples.inputs.col(sample).cast<double>();
            h.selfadjointView<Eigen::Lower>().rankUpdate(a, weight);
            c += weight * static_cast<double>(samples.targets(sample)) * a;
        }
    }
    return shortest_solution(h.selfadjointView<Eigen::Lower>(), c);
}

}  // namespace paceline
