#include "algorithms/local/overlap_local_sgd.hpp"

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::overlap_local_sgd_test {
namespace {

LocalAlgorithm of_overlap(std::int64_t period, double alpha, double anchor_momentum,
                          MomentumRule rule = {}) {
    return [=](Worker& w) {
        return overlap_local_sgd(
            w, {period, alpha, anchor_momentum, dense_exchange(AllReduce::ring), rule});
    };
}

// The form of the released code: each worker has a v_i and contributes z - lr v_i to the next z.
Eigen::MatrixXd per_worker(int n, std::int64_t period, double alpha, double gmf, std::int64_t steps,
                           const Rate& rate, MomentumRule rule) {
    Columns all(n, rule);
    Eigen::VectorXd z = all.x.col(0);
    Eigen::MatrixXd v = Eigen::MatrixXd::Zero(26, n);
    Eigen::MatrixXd contributions;  // in flight
    for (std::int64_t k = 0; k < steps; ++k) {
        const double lr = rate(k);
        all.step(k, lr);
        if ((k + 1) % period != 0) continue;
        if (contributions.size() > 0) z = contributions.rowwise().mean();
        all.x = ((1 - alpha) * all.x).colwise() + alpha * z;
        v = gmf * v + (z.replicate(1, n) - all.x) / lr;
        contributions = (-lr * v).colwise() + z;
    }
    return all.x;
}

TEST_CASE("overlap local SGD: one anchor momentum for all trains as one for each worker") {
    for (const Rate& rate : {Rate(constant_rate), Rate(falling_rate)})
        for (const int n : {1, 4, 6})
            for (const std::int64_t period : {1, 2, 3}) {
                CAPTURE(rate(0));
                CAPTURE(n);
                CAPTURE(period);
                const MomentumRule rule{0.9, true, 1e-4};

                const Eigen::MatrixXd models = models_after(n, local_job(5 * period + 1, rate),
                                                            of_overlap(period, 0.6, 0.7, rule));

                CHECK(distance(models, per_worker(n, period, 0.6, 0.7, 5 * period + 1, rate,
                                                  rule)) < 1e-10);
            }
}

TEST_CASE("overlap local SGD: with alpha 0 and no anchor momentum workers are independent") {
    Columns alone(4, {0.8});
    for (std::int64_t k = 0; k < 13; ++k) alone.step(k, falling_rate(k));

    CHECK(distance(models_after(4, local_job(13, falling_rate), of_overlap(2, 0, 0, {0.8})),
                   alone.x) < 1e-12);
}

TEST_CASE("overlap local SGD: with alpha 0 the anchor is the mean of the models a block ago") {
    Columns alone(4, {});
    for (std::int64_t k = 0; k < 6; ++k) alone.step(k, falling_rate(k));
    TrainingRun run(4, local_link, local_job(9, falling_rate));
    run.spawn_all(of_overlap(3, 0, 0));

    run.simulation.run();

    CHECK(
        (run.cluster.worker(0).replicated("anchor").values() - alone.mean()).cwiseAbs().maxCoeff() <
        1e-12);
}

TEST_CASE("overlap local SGD: with alpha 1 the anchor never leaves the first model") {
    TrainingRun run(4, local_link, local_job(12, constant_rate));
    run.spawn_all(of_overlap(3, 1, 0, {0.9}));

    run.simulation.run();

    CHECK(run.cluster.worker(0).replicated("anchor").values() == Eigen::VectorXd::Ones(26));
    for (int i = 0; i < 4; ++i) CHECK(run.model_of(i) == Eigen::VectorXd::Ones(26));
}

}  // namespace
}  // namespace paceline::overlap_local_sgd_test
