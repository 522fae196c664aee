#include "algorithms/dense/pmsgd_lars.hpp"

#include <chrono>
#include <utility>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::pmsgd_lars_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

template <class Algorithm>
Eigen::VectorXd model_after(int nodes, Job job, const Algorithm& algorithm) {
    TrainingRun run(nodes, link, std::move(job));
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return run.cluster.worker(0).replicated_model().values();
}

auto dense(double momentum) {
    return [=](Worker& w) {
        return synchronous_sgd(w,
                               SynchronousSgdOptions{dense_exchange(AllReduce::ring), {momentum}});
    };
}
auto lars(PmsgdLarsOptions options) {
    return [=](Worker& w) { return pmsgd_lars(w, options); };
}

/// One matrix whose gradient is c times itself: its trust ratio is eta / c.
Job proportional(double c, std::int64_t steps) {
    Job job = timing_job(make_layout({{"w", {2, 3}}}), steps);
    job.start = Vector(job.start.layout(), Eigen::VectorXd::LinSpaced(6, -1, 3));
    job.objective = [c](const Vector& x, int, std::int64_t) {
        return Eigen::VectorXd(c * x.values());
    };
    return job;
}

TEST_CASE("PmSGD with LARS: with an eta that makes every ratio 1 it is momentum SGD") {
    const double c = 0.7;
    const Eigen::VectorXd plain = model_after(4, proportional(c, 30), dense(0.9));
    const Eigen::VectorXd scaled =
        model_after(4, proportional(c, 30),
                    lars({dense_exchange(AllReduce::ring), 0.9, {.trust = c, .epsilon = 0}}));
    const Eigen::VectorXd halved =
        model_after(4, proportional(c, 30),
                    lars({dense_exchange(AllReduce::ring), 0.9, {.trust = c / 2, .epsilon = 0}}));

    CHECK((scaled - plain).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((halved - plain).cwiseAbs().maxCoeff() > 1e-3);
}

TEST_CASE("PmSGD with LARS: clipped, with trust beyond every bound, it is momentum SGD") {
    const Eigen::VectorXd plain = model_after(5, training_job(small_layout(), 20), dense(0.8));
    const Eigen::VectorXd clipped =
        model_after(5, training_job(small_layout(), 20),
                    lars({dense_exchange(AllReduce::ring), 0.8, {.trust = 1e9, .clip = true}}));

    CHECK((clipped - plain).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("PmSGD with LARS: it follows its equations, implemented a second time") {
    const PmsgdLarsOptions options{
        dense_exchange(AllReduce::ring), 0.8, {.trust = 0.02, .weight_decay = 0.01}};
    const Eigen::VectorXd found = model_after(3, training_job(small_layout(), 12), lars(options));

    const LayoutPtr layout = small_layout();
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    for (std::int64_t k = 0; k < 12; ++k) {
        Eigen::VectorXd g = Eigen::VectorXd::Zero(26);
        for (int i = 0; i < 3; ++i) g += pull_to_own_target(x, i, k) / 3;
        const auto scale = [&](Eigen::Index first, Eigen::Index count) {
            const Eigen::VectorXd x_l = x.segment(first, count);
            const Eigen::VectorXd g_l = g.segment(first, count);
            const double ratio = 0.02 * x_l.norm() / (g_l.norm() + 0.01 * x_l.norm() + 1e-8);
            g.segment(first, count) = ratio * (g_l + 0.01 * x_l);
        };
        scale(0, 12);  // conv.weight; conv.bias is 12 .. 15
        scale(16, 8);  // fc.weight; fc.bias is 24 and 25
        m = 0.8 * m + g;
        x -= 0.1 * m;
    }
    CHECK((found - x).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("PmSGD with LARS: costs the time of dense SGD, to the picosecond") {
    for (const int nodes : {1, 2, 5, 8}) {
        const auto elapsed = [nodes](const auto& algorithm) {
            Job job = timing_job(make_layout({{"w", {1000, 100}}, {"b", {100}}}), 4);
            job.update = 300us;
            TrainingRun run(nodes, link, std::move(job));
            run.spawn_all(algorithm);
            run.simulation.run();
            return run.elapsed();
        };
        CHECK(elapsed(lars({.exchange = dense_exchange(AllReduce::ring)})) == elapsed(dense(0.9)));
    }
}

}  // namespace
}  // namespace paceline::pmsgd_lars_test
