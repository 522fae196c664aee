#include "algorithms/dense/synchronous_sgd.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include <doctest/doctest.h>

#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/step_models.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::synchronous_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};
constexpr std::array all_reduces{AllReduce::ring, AllReduce::recursive_doubling,
                                 AllReduce::halving_doubling};
constexpr std::array sizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33};

struct DenseRun : TrainingRun {
    DenseRun(int nodes, AllReducePlan how, MomentumRule rule, Job job)
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) {
            return synchronous_sgd(self, SynchronousSgdOptions{dense_exchange(how), rule});
        });
        simulation.run();
    }
    [[nodiscard]] const Eigen::VectorXd& model() {
        return cluster.worker(0).replicated_model().values();
    }
};

double rate_at(std::int64_t k) {
    return 0.3 / static_cast<double>(k + 3);
}

Job job_with_schedule(std::int64_t steps) {
    Job job = training_job(small_layout(), steps);
    job.learning_rate = rate_at;
    return job;
}

// A second implementation of momentum SGD on the mean gradient.
Eigen::VectorXd serial_momentum_sgd(int nodes, double momentum, std::int64_t steps) {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    for (std::int64_t k = 0; k < steps; ++k) {
        Eigen::VectorXd mean = Eigen::VectorXd::Zero(26);
        for (int i = 0; i < nodes; ++i) mean += pull_to_own_target(x, i, k) / nodes;
        m = momentum * m + mean;
        x -= rate_at(k) * m;
    }
    return x;
}

StepModelInput input(int nodes, LayoutPtr layout) {
    return on_star(nodes, idle_star(link), step_of_tests, std::move(layout));
}

bool power_of_two(int n) {
    return (n & (n - 1)) == 0;
}

TEST_CASE("dense SGD: it is serial momentum SGD on the mean gradient") {
    for (const AllReduce how : all_reduces)
        for (const int n : {1, 2, 3, 5, 8})
            for (const double momentum : {0.0, 0.9}) {
                CAPTURE(static_cast<int>(how));
                CAPTURE(n);
                CAPTURE(momentum);

                DenseRun run(n, how, {momentum}, job_with_schedule(30));

                const Eigen::VectorXd expected = serial_momentum_sgd(n, momentum, 30);
                CHECK((run.model() - expected).cwiseAbs().maxCoeff() < 1e-12);
            }
}

TEST_CASE("dense SGD: alone and without momentum it is SGD") {
    DenseRun run(1, {}, {}, job_with_schedule(30));

    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < 30; ++k) x -= rate_at(k) * pull_to_own_target(x, 0, k);
    CHECK((run.model() - x).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(run.elapsed() == 30 * 1ms);
    CHECK(run.network.traffic(0).sent == Bytes{0});
}

TEST_CASE("dense SGD: the kind of all-reduce does not change a bit of the model") {
    DenseRun ring(6, AllReduce::ring, {0.9}, job_with_schedule(30));
    DenseRun doubling(6, AllReduce::recursive_doubling, {0.9}, job_with_schedule(30));
    DenseRun halving(6, AllReduce::halving_doubling, {0.9}, job_with_schedule(30));

    CHECK(ring.model() == doubling.model());
    CHECK(ring.model() == halving.model());
}

TEST_CASE("dense SGD: one step takes the step model, exactly, for any number of nodes") {
    const LayoutPtr layout = small_layout();
    for (const AllReduce how : all_reduces)
        for (const int n : sizes) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);

            DenseRun run(n, how, {}, timing_job(layout, 1));

            CHECK(run.elapsed() == *dense_step_time(how, input(n, layout)));
        }
}

TEST_CASE("dense SGD: steps of powers of two take the step model, to the picosecond") {
    const LayoutPtr layout = make_layout({{"a", {64, 48}}, {"b", {64}}});
    for (const AllReduce how : all_reduces)
        for (const int n : {1, 2, 4, 8, 16}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);

            DenseRun run(n, how, {}, timing_job(layout, 4));

            CHECK(run.elapsed() == 4 * *dense_step_time(how, input(n, layout)));
        }
}

TEST_CASE("dense SGD: steps of powers of two take the step model where chunks differ by a byte") {
    const LayoutPtr layout = small_layout();  // 104 bytes are not divisible by 16
    for (const AllReduce how : all_reduces)
        for (const int n : {1, 2, 4, 8, 16}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);

            DenseRun run(n, how, {}, timing_job(layout, 4));

            CHECK(run.elapsed() == 4 * *dense_step_time(how, input(n, layout)));
        }
}

TEST_CASE("dense SGD: steps of other numbers of nodes take the step model at most") {
    const LayoutPtr layout = small_layout();
    for (const AllReduce how : all_reduces)
        for (const int n : sizes) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);
            if (power_of_two(n)) continue;

            DenseRun run(n, how, {}, timing_job(layout, 4));

            const Duration model = *dense_step_time(how, input(n, layout));
            CHECK(run.elapsed() <= 4 * model);
            CHECK(run.elapsed() > 4 * step_of_tests);
        }
}

TEST_CASE("dense SGD: a ring brings each node 2 (n-1)/n of the model per step") {
    const LayoutPtr layout = make_layout({{"a", {64, 48}}, {"b", {64}}});  // 12544 bytes

    DenseRun run(4, AllReduce::ring, {}, timing_job(layout, 5));

    for (int rank = 0; rank < 4; ++rank) {
        CHECK(run.network.traffic(rank).sent == Bytes{5 * 2 * 3 * 12'544 / 4});
        CHECK(run.network.traffic(rank).received == Bytes{5 * 2 * 3 * 12'544 / 4});
    }
}

TEST_CASE("dense SGD: the wire format sets what it sends") {
    Job job = timing_job(small_layout(), 3);
    job.wire = fp16;

    DenseRun run(8, AllReduce::recursive_doubling, {}, std::move(job));

    CHECK(run.network.traffic(5).sent == 3 * (3 * 52_B));
}

}  // namespace
}  // namespace paceline::synchronous_sgd_test
