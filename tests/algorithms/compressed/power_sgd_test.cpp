#include "algorithms/compressed/power_sgd.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include <Eigen/QR>
#include <boost/random/normal_distribution.hpp>
#include <doctest/doctest.h>

#include "algorithms/coders/low_rank_coder.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/replicated_run.hpp"

namespace paceline::power_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const MomentumRule full_rule{0.9, true, 1e-3, 2.0};

PowerSgdOptions options_of(std::int64_t rank, MomentumRule rule = {}) {
    return {low_rank_exchange(rank, {}), rule};
}

Eigen::VectorXd dense(int n, MomentumRule rule, Job job) {
    const SharedValue<SynchronousSgdOptions> options(
        SynchronousSgdOptions{dense_exchange(AllReduce::ring), rule});
    return trained(n, &synchronous_sgd, options, std::move(job));
}

const MomentumRule heavy_ball{full_rule.momentum, false, full_rule.weight_decay, full_rule.clip};

TEST_CASE("PowerSGD: at full rank it is dense SGD, with momentum, decay and clipping") {
    for (const int n : {1, 2, 3, 5}) {
        CAPTURE(n);
        const Eigen::VectorXd exact = dense(n, heavy_ball, training_job(small_layout(), 20));

        const Eigen::VectorXd found =
            trained(n, &power_sgd, options_of(4, heavy_ball), training_job(small_layout(), 20));

        CHECK((found - exact).cwiseAbs().maxCoeff() < 1e-10);
    }
}

// The released code (paper-code/train.py): momentum <- beta momentum + g; the step is g + momentum.
TEST_CASE("PowerSGD: Nesterov's step is along the gradient and the new momentum") {
    for (const int n : {1, 3}) {
        Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
        Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
        for (std::int64_t k = 0; k < 20; ++k) {
            Eigen::VectorXd g = Eigen::VectorXd::Zero(26);
            for (int i = 0; i < n; ++i) g += pull_to_own_target(x, i, k) / n;
            g += 0.01 * x;
            m = 0.8 * m + g;
            x -= 0.1 * (g + m);
        }

        const Eigen::VectorXd found = trained(n, &power_sgd, options_of(4, {0.8, true, 0.01}),
                                              training_job(small_layout(), 20));

        CHECK((found - x).cwiseAbs().maxCoeff() < 1e-10);
    }
}

TEST_CASE("PowerSGD: tensors of one dimension alone are dense SGD at any rank") {
    const LayoutPtr layout = make_layout({{"a", {7}}, {"b", {3}}});
    const Eigen::VectorXd exact = dense(3, heavy_ball, training_job(layout, 20));

    const Eigen::VectorXd found =
        trained(3, &power_sgd, options_of(1, heavy_ball), training_job(layout, 20));

    CHECK((found - exact).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("PowerSGD: gradients of rank two are exact at rank two") {
    const LayoutPtr layout = make_layout({{"m", {6, 5}}});
    const auto job = [&] {
        Job job = training_job(layout, 15);
        job.objective = [](const Vector&, int rank, std::int64_t k) {
            const Eigen::VectorXd u = Eigen::VectorXd::LinSpaced(6, 1, 2 + static_cast<double>(k));
            const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(5, -1 - rank, 2);
            const Eigen::VectorXd w = Eigen::VectorXd::LinSpaced(6, -3, 1);
            Eigen::Matrix<double, 6, 5, Eigen::RowMajor> m =
                u * Eigen::RowVectorXd::LinSpaced(5, -2, 3) + w * v.transpose();
            m = u * Eigen::RowVectorXd::LinSpaced(5, -2, 3) + (1 + rank) * m;
            return Eigen::VectorXd(m.reshaped<Eigen::RowMajor>());
        };
        return job;
    };
    // The mean of the three gradients is spanned by u and w.
    const Eigen::VectorXd exact = dense(3, {}, job());

    const Eigen::VectorXd found = trained(3, &power_sgd, options_of(2), job());

    CHECK((found - exact).cwiseAbs().maxCoeff() < 1e-10);
}

// One matrix of 4 x 3 and 2 biases. Q is drawn and kept as the header says; Householder reflections
// make the columns orthonormal.
Eigen::VectorXd by_plain_matrices(int n, Eigen::Index rank, std::int64_t steps) {
    using RowMajor = Eigen::Matrix<double, 4, 3, Eigen::RowMajor>;
    RandomStream random = RandomStreams(1).stream("power-sgd", 0);
    boost::random::normal_distribution<double> normal;
    Eigen::MatrixXd q(3, rank);
    for (Eigen::Index j = 0; j < rank; ++j)
        for (Eigen::Index i = 0; i < 3; ++i) q(i, j) = normal(random);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(14);
    Eigen::VectorXd momentum = 0 * x;
    std::vector<RowMajor> e(static_cast<std::size_t>(n), RowMajor::Zero());
    for (std::int64_t k = 0; k < steps; ++k) {
        std::vector<RowMajor> m;
        Eigen::VectorXd mean = 0 * x;
        for (int i = 0; i < n; ++i) {
            const Eigen::VectorXd g = pull_to_own_target(x, i, k);
            m.emplace_back(Eigen::Map<const RowMajor>(g.data()) + e[static_cast<std::size_t>(i)]);
            mean.tail(2) += g.tail(2) / n;
        }
        Eigen::MatrixXd p = Eigen::MatrixXd::Zero(4, rank);
        for (const RowMajor& mine : m) p += mine * q / n;
        const Eigen::MatrixXd basis = Eigen::HouseholderQR<Eigen::MatrixXd>(p).householderQ() *
                                      Eigen::MatrixXd::Identity(4, rank);
        q.setZero();
        for (const RowMajor& mine : m) q += mine.transpose() * basis / n;
        const RowMajor product = basis * q.transpose();
        for (std::size_t i = 0; i < m.size(); ++i) e[i] = m[i] - product;
        mean.head(12) = product.reshaped<Eigen::RowMajor>();
        momentum = 0.5 * momentum + mean;
        x -= 0.1 * momentum;
    }
    return x;
}

TEST_CASE("PowerSGD: it agrees with plain matrices, with error feedback and a warm start") {
    const LayoutPtr layout = make_layout({{"m", {4, 3}}, {"b", {2}}});
    for (const int n : {1, 2, 3, 5})
        for (const Eigen::Index rank : {1, 2}) {
            CAPTURE(n);
            CAPTURE(rank);

            const Eigen::VectorXd found =
                trained(n, &power_sgd, options_of(rank, {0.5}), training_job(layout, 25));

            CHECK((found - by_plain_matrices(n, rank, 25)).cwiseAbs().maxCoeff() < 1e-10);
        }
}

TEST_CASE("PowerSGD: alone it is not SGD") {
    const LayoutPtr layout = make_layout({{"m", {4, 3}}});
    const Eigen::VectorXd exact = dense(1, {}, training_job(layout, 10));

    const Eigen::VectorXd found = trained(1, &power_sgd, options_of(1), training_job(layout, 10));

    CHECK((found - exact).cwiseAbs().maxCoeff() > 1e-4);
}

TEST_CASE("PowerSGD: a tensor without a gradient in one step learns again in the next") {
    const auto job = [] {
        Job job = training_job(small_layout(), 8);
        job.objective = [](const Vector& x, int rank, std::int64_t k) {
            Eigen::VectorXd g = pull_to_own_target(x.values(), rank, k);
            if (k < 2) g.head(12).setZero();
            return g;
        };
        return job;
    };
    const Eigen::VectorXd exact = dense(2, {}, job());

    const Eigen::VectorXd found = trained(2, &power_sgd, options_of(4), job());

    CHECK((found - exact).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("PowerSGD: it sends 4 r (a + c) bytes of each matrix, and one dimension whole") {
    // r = 2: P is 2 (8 + 4), Q is 2 (6 + 4), and a bias of 8 follows P
    const LayoutPtr layout = make_layout({{"m", {8, 2, 3}}, {"b", {8}}, {"s", {4, 4}}});
    const LowRankBytes messages = low_rank_bytes({2}, *layout);
    CHECK(messages.left == Bytes{4 * (2 * 12 + 8)});
    CHECK(messages.right == Bytes{4 * 2 * 10});

    TrainingRun run(4, replicated_link, timing_job(layout, 3));
    run.spawn_all([](Worker& self) { return power_sgd(self, options_of(2)); });
    run.simulation.run();

    for (int i = 0; i < 4; ++i)
        CHECK(run.network.traffic(i).sent.count ==
              3 * 2 * 3 * (messages.left.count + messages.right.count) / 4);
}

TEST_CASE("PowerSGD: a matrix that is left out travels whole with P, and is not coded") {
    const LayoutPtr layout = make_layout({{"m", {80, 60}}, {"last", {40, 10}}});
    const auto elapsed = [&](const LayoutPtr& of, CodingCost coding,
                             std::vector<TensorChoice> leave_out) {
        ExchangeOptions exchange = low_rank_exchange(2, {}, coding);
        exchange.codec.leave_out = std::move(leave_out);
        TrainingRun run(4, replicated_link, timing_job(of, 1));
        run.spawn_all([&](Worker& self) { return power_sgd(self, {exchange, {}}); });
        run.simulation.run();
        return run.elapsed();
    };
    const auto coding = [&](const LayoutPtr& of, const std::vector<TensorChoice>& leave_out) {
        return elapsed(of, {Duration{100}}, leave_out) - elapsed(of, {Duration{0}}, leave_out);
    };
    CHECK(coding(layout, {}) == 5 * 5200 * Duration{100});
    CHECK(coding(layout, {"last"}) == 5 * 4800 * Duration{100});
    CHECK(elapsed(layout, {Duration{0}}, {"last"}) ==
          step_of_tests + 6 * (10us + Bytes{4 * (160 + 400) / 4} / replicated_link.capacity()) +
              6 * (10us + Bytes{4 * 120 / 4} / replicated_link.capacity()));
}

}  // namespace
}  // namespace paceline::power_sgd_test
