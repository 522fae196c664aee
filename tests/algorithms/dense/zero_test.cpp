#include "algorithms/dense/zero.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/adaptive/dense_adam.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::zero_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

struct ZeroRun : TrainingRun {
    ZeroRun(int nodes, Job job, const ZeroOptions& options)
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) { return zero(self, options); });
        simulation.run();
    }
    [[nodiscard]] Bytes sent(int node) const { return network.traffic(node).sent; }
};

// Each tensor is a unit.
Job tensor_by_tensor(Job job) {
    const Layout& layout = *job.start.layout();
    job.timing = make_step_timing(step_of_tests, layout,
                                  std::vector<double>(layout.tensors().size(), 1.0), 1);
    return job;
}

TEST_CASE(
    "zero: in all stages, and with shards by machine, the model is that of dense Adam, in every "
    "bit") {
    DenseAdamOptions adam;
    adam.rule.weight_decay = 0.03;
    adam.exchange = dense_exchange(AllReduce::ring);
    for (const int n : {1, 2, 6}) {
        TrainingRun dense(n, link, training_job(small_layout(), 12));
        dense.spawn_all([=](Worker& self) { return dense_adam(self, adam); });
        dense.simulation.run();
        const Eigen::VectorXd expected = dense.cluster.worker(0).replicated_model().values();
        for (const int stage : {1, 2, 3})
            for (const int machine : {0, 1, 2})
                for (const int prefetch : {0, 1, 5}) {
                    if (n % std::max(machine, 1) != 0) continue;
                    CAPTURE(n);
                    CAPTURE(stage);
                    CAPTURE(machine);
                    CAPTURE(prefetch);
                    ZeroRun run(n, tensor_by_tensor(training_job(small_layout(), 12)),
                                {stage, prefetch, machine, adam.rule});

                    REQUIRE(run.processes.finished());
                    CHECK(run.cluster.worker(0).replicated_model().values() == expected);
                }
    }
}

// Rajbhandari et al., section 7: a step moves 2, 2 and 3 times the parameters; a ring leaves out
// the own part.
TEST_CASE("zero: a worker sends (n-1)/n of 2, 2 and 3 times the parameters") {
    const LayoutPtr layout = make_layout({{"a", {40, 60}}, {"b", {1200}}, {"c", {120, 10}}});
    const std::vector<std::int64_t> multiples{2, 2, 3};
    for (const int n : {2, 4, 8})
        for (int stage = 1; stage <= 3; ++stage) {
            CAPTURE(n);
            CAPTURE(stage);
            ZeroRun run(n, tensor_by_tensor(timing_job(layout, 1)), {.stage = stage});

            const std::int64_t bytes = 4 * layout->entries();
            for (int node = 0; node < n; ++node)
                CHECK(run.sent(node).count ==
                      multiples[static_cast<std::size_t>(stage) - 1] * bytes / n * (n - 1));
        }
}

// Parameters are gathered for both passes of every micro-batch; gradients are reduced in each of
// them or in the last.
TEST_CASE(
    "zero: with a micro-batches a worker sends (n-1)/n of r + 1 and r + 2a times the parameters") {
    const LayoutPtr layout = make_layout({{"a", {40, 60}}, {"b", {1200}}, {"c", {120, 10}}});
    constexpr int n = 4;
    for (const int a : {1, 2, 5})
        for (int stage = 1; stage <= 3; ++stage)
            for (const ZeroReduce reduce : {ZeroReduce::each, ZeroReduce::last}) {
                CAPTURE(a);
                CAPTURE(stage);
                Job job = tensor_by_tensor(timing_job(layout, 2));
                job.timing = accumulated(job.timing, a);
                ZeroRun run(n, job, {.stage = stage, .reduce = reduce});

                const int reduces = reduce == ZeroReduce::each ? a : 1;
                const int gathers = stage == 3 ? 2 * a : 1;
                const std::int64_t bytes = 4 * layout->entries();
                for (int node = 0; node < n; ++node)
                    CHECK(run.sent(node).count == 2 * (gathers + reduces) * bytes / n * (n - 1));
            }
}

TEST_CASE("zero: micro-batches change no value") {
    const DenseAdamOptions adam{.exchange = dense_exchange(AllReduce::ring)};
    Job job = tensor_by_tensor(training_job(small_layout(), 7));
    job.timing = accumulated(job.timing, 3);
    TrainingRun dense(4, link, job);
    dense.spawn_all([=](Worker& self) { return dense_adam(self, adam); });
    dense.simulation.run();
    const Eigen::VectorXd expected = dense.cluster.worker(0).replicated_model().values();
    for (const int stage : {1, 2, 3})
        for (const ZeroReduce reduce : {ZeroReduce::each, ZeroReduce::last}) {
            CAPTURE(stage);
            ZeroRun run(4, job, {.stage = stage, .rule = adam.rule, .reduce = reduce});

            REQUIRE(run.processes.finished());
            CHECK(run.cluster.worker(0).replicated_model().values() == expected);
        }
}

TEST_CASE("zero: a run that is dropped between micro-batches leaves nothing behind") {
    const LayoutPtr layout = make_layout({{"a", {40, 60}}, {"b", {1200}}});
    for (const auto end : {1ms, 2ms, 3ms, 7ms}) {
        Job job = tensor_by_tensor(timing_job(layout, 5));
        job.timing = accumulated(job.timing, 3);
        TrainingRun run(4, link, job);
        run.spawn_all([](Worker& self) { return zero(self, {}); });
        run.simulation.run(Time{end});
        CHECK_FALSE(run.processes.finished());
    }
}

TEST_CASE("zero, property: shards on one machine of all workers are shards on all workers") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto upto = [&](int most) {
            return std::uniform_int_distribution<int>(1, most)(random);
        };
        std::vector<Tensor> tensors;
        for (int t = upto(6); t > 0; --t) tensors.push_back({"t", {upto(30), upto(3000)}});
        const LayoutPtr layout = make_layout(tensors);
        const int n = upto(8);
        const ZeroOptions all{.stage = upto(3), .prefetch = upto(4) - 1};
        ZeroOptions machine = all;
        machine.machine = n;
        const auto end = [&](const ZeroOptions& options) {
            return ZeroRun(n, tensor_by_tensor(timing_job(layout, 3)), options).simulation.now();
        };

        REQUIRE(end(all) == end(machine));
    }
}

// Section 3 of the paper: 16 bytes a parameter in mixed precision; 64 workers leave 4 + 12/64, 2 +
// 14/64 and 16/64.
TEST_CASE("zero: memory is that of the paper's formulas") {
    const std::int64_t n = 1'000'000;
    const auto bytes = [&](int stage) {
        return zero_memory({.stage = stage}, n, 0, fp16, 64).all().count;
    };

    CHECK(zero_memory({.stage = 1}, n, 0, fp16, 1).all().count == 16 * n);
    CHECK(bytes(1) == 4 * n + 12 * n / 64);
    CHECK(bytes(2) == 2 * n + 14 * n / 64);
    CHECK(bytes(3) == 16 * n / 64);
    // Units as a whole: parameters of the one that is computed and of two ahead, and a gradient.
    CHECK(zero_memory({.stage = 3, .prefetch = 2}, n, 1000, fp16, 64).all().count ==
          16 * n / 64 + (3 + 1) * 2 * 1000);
    CHECK(zero_memory({.stage = 2}, n, 1000, fp16, 64).all().count ==
          2 * n + 14 * n / 64 + 2 * 1000);
    // Gradients that are reduced in the last of four micro-batches are whole until then.
    const ZeroOptions last{.stage = 3, .reduce = ZeroReduce::last};
    CHECK(zero_memory(last, n, 1000, fp16, 64, 4).all().count ==
          16 * n / 64 + 2 * 2 * 1000 + 2 * n);
    CHECK(zero_memory(last, n, 1000, fp16, 64, 1).all().count == 16 * n / 64 + 3 * 2 * 1000);
    CHECK(zero_memory({.stage = 3, .machine = 8}, n, 0, fp32, 64).all().count == 16 * n / 8);
}

TEST_CASE("zero: memory is divided into what is sharded and what is whole") {
    const std::int64_t n = 6'400;
    const KeptBytes one = zero_memory({.stage = 1}, n, 100, fp16, 64);
    CHECK(one.parameters == Bytes{2 * n});
    CHECK(one.gradients == Bytes{2 * n});
    CHECK(one.optimizer == Bytes{12 * n / 64});
    CHECK(one.buffers == Bytes{});
    const KeptBytes three = zero_memory({.stage = 3, .prefetch = 1}, n, 100, fp16, 64);
    CHECK(three.parameters == Bytes{2 * n / 64});
    CHECK(three.gradients == Bytes{2 * n / 64});
    CHECK(three.optimizer == Bytes{12 * n / 64});
    CHECK(three.buffers == Bytes{3 * 2 * 100});  // two units of parameters, one of gradients
}

// The paper's first figure: 7.5 billion parameters in mixed precision, on 64 devices.
TEST_CASE("zero: memory is what is published for 7.5 billion parameters, to 0.1 GB") {
    const std::int64_t n = 7'500'000'000;
    const auto gigabytes = [&](int stage, int workers) {
        return 1e-9 *
               static_cast<double>(zero_memory({.stage = stage}, n, 0, fp16, workers).all().count);
    };

    CHECK(std::abs(gigabytes(1, 1) - 120) <= 0.05);
    CHECK(std::abs(gigabytes(1, 64) - 31.4) <= 0.05);
    CHECK(std::abs(gigabytes(2, 64) - 16.6) <= 0.05);
    CHECK(std::abs(gigabytes(3, 64) - 1.9) <= 0.05);
}

}  // namespace
}  // namespace paceline::zero_test
