#include "algorithms/compressed/demo.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "algorithms/compressed/sign_sgd.hpp"
#include "algorithms/compression/compressor.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/tensor_chunks.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/replicated_run.hpp"

namespace paceline::demo_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using Values = Eigen::VectorXd;

/// Chunks of all of a small tensor, of which everything is sent.
DemoOptions sending_all(double decay) {
    DemoOptions options;
    options.decay = decay;
    options.chunk = 5;
    options.components = 25;
    return options;
}

/// Component b of four entries, at 1.
Values wave(int b) {
    return Values::NullaryExpr(4, [=](Eigen::Index j) {
        return std::sqrt(b == 0 ? 0.25 : 0.5) *
               std::cos(std::numbers::pi * (2 * static_cast<double>(j) + 1) * b / 8);
    });
}

/// A job of one bias of four entries that begins at 0, with learning rate 0.5, whose gradients come
/// in step 0 alone.
Job one_impulse(std::int64_t steps, std::vector<Values> gradients) {
    const LayoutPtr layout = make_layout({{"x", {4}}});
    Job job = timing_job(layout, steps);
    job.start = Vector(layout, Values::Zero(4));
    job.learning_rate = [](std::int64_t) { return 0.5; };
    job.objective = [gradients = std::move(gradients)](const Vector& x, int rank, std::int64_t k) {
        return k == 0 ? gradients[static_cast<std::size_t>(rank)]
                      : Values::Zero(x.entries()).eval();
    };
    return job;
}

DemoOptions one_component(double decay) {
    DemoOptions options;
    options.decay = decay;
    options.components = 1;
    return options;
}

TEST_CASE("DeMo: when all is sent and nothing stays, it goes along the sign of the mean gradient") {
    for (const int n : {1, 2, 3, 5})
        for (const double decay : {0.0, 0.9}) {  // of a momentum that is empty after each step
            CAPTURE(n);
            CAPTURE(decay);
            DemoOptions options = sending_all(decay);
            options.weight_decay = 0.04;
            Values x = Values::Ones(26);
            for (std::int64_t k = 0; k < 30; ++k) {
                Values mean = Values::Zero(26);
                for (int i = 0; i < n; ++i) mean += pull_to_own_target(x, i, k) / n;
                x = (1 - 0.04 * rate_of_schedule(k)) * x - rate_of_schedule(k) * mean.cwiseSign();
            }

            const Values found = trained(n, &demo, options, job_with_schedule(small_layout(), 30));

            CHECK((found - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

TEST_CASE("DeMo: one worker that sends all is sign SGD") {
    Compressor votes = make_sign();
    votes.majority = true;
    const SignSgdOptions signs{0, compressed_exchange(votes, false, {}, {}, AllGather::ring)};

    const Values found = trained(1, &demo, sending_all(0), job_with_schedule(small_layout(), 30));

    const Values expected = trained(1, &sign_sgd, signs, job_with_schedule(small_layout(), 30));
    CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-12);
}

// A gradient comes once. Each step sends the strongest component that is left, whatever its size;
// so in as many steps as there are components, all that was accumulated has been sent once, and
// nothing twice.
TEST_CASE("DeMo: what is sent and what stays are what was accumulated") {
    const Values gradient = 2 * wave(2) - 5 * wave(0) + 1.5 * wave(3) + 4 * wave(1);
    const std::vector<Values> sent{-1 * wave(0), wave(1), wave(2), wave(3)};
    for (const double decay : {1.0, 0.9})  // the decay changes sizes alone
        for (std::int64_t steps = 1; steps <= 4; ++steps) {
            CAPTURE(decay);
            CAPTURE(steps);
            Values x = Values::Zero(4);
            for (std::int64_t k = 0; k < steps; ++k)
                x -= 0.5 * sent[static_cast<std::size_t>(k)].cwiseSign();

            const Values found =
                trained(1, &demo, one_component(decay), one_impulse(steps, {gradient}));

            CHECK((found - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

// Two workers send component 0 and one sends component 1, all of size 1. Over the workers that sent
// it, the mean of either is 1. Over all workers, component 0 would be twice component 1, and would
// decide all signs.
TEST_CASE("DeMo: a component is averaged over the workers that sent it") {
    const Values found =
        trained(3, &demo, one_component(1), one_impulse(1, {wave(0), wave(1), wave(0)}));

    const Values expected = -0.5 * (wave(0) + wave(1)).cwiseSign();
    CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(expected(3) == 0.5);
}

TEST_CASE("DeMo: gradients of zero move nothing") {
    const Values zero = Values::Zero(4);
    CHECK(trained(3, &demo, one_component(1), one_impulse(3, {zero, zero, zero})) == zero);
}

TEST_CASE(
    "DeMo: by default a message of sides that 64 divides weighs 12 * 32 / 4096 bytes per entry") {
    const Compressor messages = demo_messages({});
    for (const std::int64_t rows : {64, 128, 640, 50'304})
        for (const std::int64_t columns : {64, 2048}) {
            CAPTURE(rows);
            const std::int64_t entries = rows * columns;
            const LayoutPtr layout = make_layout({{"a", {rows, columns}}, {"b", {columns, rows}}});
            CHECK(message_bytes(messages, *layout) == Bytes{2 * entries / 4096 * 32 * 12});
        }
    // A bias of 2048 entries has 32 chunks of 64.
    CHECK(message_bytes(messages, *make_layout({{"b", {2048}}})) == Bytes{32 * 32 * 12});
    // OLMo-1B, as matrices whose sides 64 divides: 110.32 MB, from memory, unverified.
    const LayoutPtr olmo = make_layout({{"olmo", {1'176'764'416 / 2048, 2048}}});
    CHECK(message_bytes(messages, *olmo) == Bytes{110'321'664});
}

TEST_CASE(
    "DeMo: each worker sends its message to all others, and a run without values takes the same "
    "time") {
    for (const int n : {1, 2, 3, 5}) {
        CAPTURE(n);
        DemoOptions options;
        options.chunk = 3;
        options.components = 2;
        const LayoutPtr layout = small_layout();
        std::int64_t kept = 0;
        for (const Tensor& tensor : layout->tensors())
            kept += kept_of_chunks(tensor, options.chunk, options.components);
        const auto run_of = [&](Job job) {
            TrainingRun run(n, replicated_link, std::move(job));
            run.spawn_all([=](Worker& self) { return demo(self, options); });
            run.simulation.run();
            for (int i = 0; i < n; ++i)
                CHECK(run.network.traffic(i).sent.count == 7 * 12 * kept * (n - 1));
            return run.elapsed();
        };

        CHECK(run_of(timing_job(layout, 7)) == run_of(training_job(layout, 7)));
    }
}

TEST_CASE("DeMo, property: a run that learns can be dropped at any time") {
    for (std::int64_t i = 0; i < 60; ++i) {
        CAPTURE(i);
        TrainingRun run(1 + static_cast<int>(i % 5), replicated_link,
                        training_job(small_layout(), 20));
        run.spawn_all([](Worker& self) { return demo(self, {}); });
        run.simulation.run(Time{Duration{i * 300'000'000}});

        run.processes.drop();

        REQUIRE(run.simulation.run() == RunEnd::idle);
        REQUIRE(run.network.flows_in_flight() == 0);
    }
}

}  // namespace
}  // namespace paceline::demo_test
