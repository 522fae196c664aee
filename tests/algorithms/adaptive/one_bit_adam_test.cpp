#include "algorithms/adaptive/one_bit_adam.hpp"

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_adam.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/adaptive/adaptive_run.hpp"

namespace paceline::one_bit_adam_test {
namespace {

const AdamRule rule{0.9, 0.99, 1e-4, 0.01, false};

auto one_bit(std::int64_t freeze_step, bool fused) {
    return [=](Worker& w) {
        return one_bit_adam(
            w, {.exchange = one_bit_exchange(fused), .rule = rule, .freeze_step = freeze_step});
    };
}

// The rule of the released code, in plain vectors.
Eigen::VectorXd serial_one_bit_adam(int n, std::int64_t freeze_step, bool fused,
                                    std::int64_t steps) {
    OneBitModelOracle compressed_mean(n, small_layout(), fused);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(26);
    for (std::int64_t k = 0; k < steps; ++k) {
        std::vector<Eigen::VectorXd> g = own_gradients(n, x, k);
        if (k < freeze_step) {
            const Eigen::VectorXd mean = mean_of(g);
            m = 0.9 * m + 0.1 * mean;
            v = 0.99 * v + 0.01 * mean.cwiseProduct(mean);
        } else {
            for (Eigen::VectorXd& one : g) one = 0.9 * m + 0.1 * one;
            m = compressed_mean(g);
        }
        x -= adaptive_rate(k) * direction(rule, m, v, x);
    }
    return x;
}

TEST_CASE("1-bit Adam: it follows the released rule, implemented a second time") {
    for (const bool fused : {false, true})
        for (const int n : {1, 2, 3, 8}) {
            CAPTURE(fused);
            CAPTURE(n);

            const Eigen::VectorXd found = model_after(n, adaptive_job(30), one_bit(12, fused));

            const Eigen::VectorXd expected = serial_one_bit_adam(n, 12, fused, 30);
            CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-10);
        }
}

TEST_CASE("1-bit Adam: before the variance is frozen it is Adam without bias correction") {
    const auto adam = [](Worker& w) { return dense_adam(w, {{}, rule}); };

    for (const int n : {1, 4})
        CHECK(model_after(n, adaptive_job(20), one_bit(20, false)) ==
              model_after(n, adaptive_job(20), adam));
}

TEST_CASE("1-bit Adam: alone it still compresses, so it is not Adam") {
    const auto adam = [](Worker& w) { return dense_adam(w, {{}, rule}); };

    const Eigen::VectorXd found = model_after(1, adaptive_job(30), one_bit(12, false));

    CHECK((found - model_after(1, adaptive_job(30), adam)).norm() > 1e-3);
    TrainingRun run(1, adaptive_link, adaptive_job(30));
    run.spawn_all(one_bit(12, false));
    run.simulation.run();
    CHECK(run.network.traffic(0).sent == Bytes{0});
}

TEST_CASE("1-bit Adam: with one buffer for all, tensors share a scale, and the model differs") {
    const Eigen::VectorXd fused = model_after(4, adaptive_job(30), one_bit(12, true));
    const Eigen::VectorXd apart = model_after(4, adaptive_job(30), one_bit(12, false));

    CHECK((fused - apart).norm() > 1e-3);
}

/// The gradient of the last entry is always zero.
Job with_a_dead_entry(std::int64_t steps) {
    Job job = adaptive_job(steps);
    job.objective = [](const Vector& x, int rank, std::int64_t k) {
        Eigen::VectorXd g = pull_to_own_target(x.values(), rank, k);
        g(25) = 0;
        return g;
    };
    return job;
}

TEST_CASE("1-bit Adam: an entry that never had a gradient stays if masked, and leaps otherwise") {
    const auto with_mask = [](bool mask) {
        return [=](Worker& w) {
            return one_bit_adam(w, {.exchange = one_bit_exchange(false),
                                    .rule = {.epsilon = 1e-8, .bias_correction = false},
                                    .freeze_step = 5,
                                    .mask = mask});
        };
    };

    CHECK(model_after(2, with_a_dead_entry(8), with_mask(true))(25) == 1);
    CHECK(std::abs(model_after(2, with_a_dead_entry(8), with_mask(false))(25)) > 1e3);
}

}  // namespace
}  // namespace paceline::one_bit_adam_test
