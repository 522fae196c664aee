#include <array>
#include <chrono>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/half.hpp"
#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/compression/terngrad.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::compressed_exchange_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

SynchronousSgdOptions options_of(Compressor compressor, bool error_feedback,
                                 MomentumRule rule = {}) {
    return {compressed_exchange(std::move(compressor), error_feedback), rule};
}

struct CompressedRun : TrainingRun {
    CompressedRun(int nodes, const SynchronousSgdOptions& options, Job job)
        : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) { return synchronous_sgd(self, options); });
        simulation.run();
        REQUIRE(processes.finished());
    }
    [[nodiscard]] const Eigen::VectorXd& model() {
        return cluster.worker(0).replicated_model().values();
    }
};

struct DenseRun : TrainingRun {
    DenseRun(int nodes, MomentumRule rule, Job job) : TrainingRun(nodes, link, std::move(job)) {
        spawn_all([=](Worker& self) {
            return synchronous_sgd(self,
                                   SynchronousSgdOptions{dense_exchange(AllReduce::ring), rule});
        });
        simulation.run();
    }
    [[nodiscard]] const Eigen::VectorXd& model() {
        return cluster.worker(0).replicated_model().values();
    }
};

const MomentumRule full_rule{0.9, true, 1e-3, 2.0};

TEST_CASE("compressed SGD: with a compressor that loses nothing it is dense SGD") {
    for (const Compressor& compressor : {make_top_k(1), make_random_k(1, false),
                                         make_random_k(1, true), make_random_block(1, false)})
        for (const bool feedback : {false, true})
            for (const int n : {1, 2, 3, 5}) {
                CAPTURE(compressor.name);
                CAPTURE(feedback);
                CAPTURE(n);
                DenseRun dense(n, full_rule, training_job(small_layout(), 20));

                CompressedRun run(n, options_of(compressor, feedback, full_rule),
                                  training_job(small_layout(), 20));

                CHECK((run.model() - dense.model()).cwiseAbs().maxCoeff() < 1e-10);
            }
}

TEST_CASE("compressed SGD: half precision is dense SGD on gradients that it can represent") {
    const auto job = [] {
        Job job = training_job(small_layout(), 20);
        job.objective = [](const Vector& x, int rank, std::int64_t k) {
            return Eigen::VectorXd(
                Eigen::VectorXd::LinSpaced(x.entries(), -13, 12) / 8 +
                Eigen::VectorXd::Constant(x.entries(), 0.25 * rank - 0.5 * static_cast<double>(k)));
        };
        return job;
    };
    DenseRun dense(3, {0.9}, job());

    CompressedRun run(3, options_of(make_half(), false, {0.9}), job());

    CHECK((run.model() - dense.model()).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("compressed SGD: top-k with feedback agrees with plain vectors, alone as well") {
    for (const int n : {1, 2, 3, 5})
        for (const bool feedback : {false, true}) {
            CAPTURE(n);
            CAPTURE(feedback);
            const LayoutPtr layout = small_layout();
            Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
            Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
            std::vector<Eigen::VectorXd> e(static_cast<std::size_t>(n), 0 * x);
            for (std::int64_t k = 0; k < 25; ++k) {
                Eigen::VectorXd mean = 0 * x;
                for (int i = 0; i < n; ++i) {
                    Eigen::VectorXd& rest = e[static_cast<std::size_t>(i)];
                    const Eigen::VectorXd p = pull_to_own_target(x, i, k) + rest;
                    const Eigen::VectorXd sent = largest_of_tensors(*layout, p, 0.2);
                    if (feedback) rest = p - sent;
                    mean += sent / n;
                }
                m = 0.5 * m + mean;
                x -= 0.1 * m;
            }

            CompressedRun run(n, options_of(make_top_k(0.2), feedback, {0.5}),
                              training_job(layout, 25));

            CHECK((run.model() - x).cwiseAbs().maxCoeff() < 1e-10);
        }
}

TEST_CASE("compressed SGD: alone it sends nothing, still codes, and is not SGD") {
    const LayoutPtr layout = small_layout();
    DenseRun dense(1, {}, training_job(layout, 10));

    CompressedRun run(1, options_of(make_scaled_sign(), true), training_job(layout, 10));

    CHECK(run.network.traffic(0).sent == Bytes{0});
    // (2 + 2 passes to encode + 1 to decode) x 26 entries x 9 ps
    CHECK(run.elapsed() == 10 * (step_of_tests + Duration{5 * 26 * 9}));
    CHECK((run.model() - dense.model()).cwiseAbs().maxCoeff() > 1e-3);
}

TEST_CASE("compressed SGD: workers draw the same random positions, and others in the next step") {
    const LayoutPtr layout = make_layout({{"x", {40}}});
    const auto moved = [&](std::int64_t steps) {
        CompressedRun run(4, options_of(make_random_k(0.1, false), false),
                          training_job(layout, steps));
        return (run.model().array() != 1).count();
    };

    CHECK(moved(1) == 4);
    CHECK(moved(2) > 4);
    CHECK(moved(2) <= 8);
}

TEST_CASE("worker: a common stream is alike on all workers, and another for each index") {
    TrainingRun run(3, link, timing_job(small_layout(), 1));
    const auto first = [&](int rank, std::int64_t index) {
        return run.cluster.worker(rank).common_stream("some name", index)();
    };

    CHECK(first(0, 5) == first(1, 5));
    CHECK(first(0, 5) == first(2, 5));
    CHECK(first(0, 5) != first(0, 6));
}

TEST_CASE("compressed SGD: each worker draws on its own where positions are sent") {
    // With equal gradients on all workers, equal draws would give a mean of one level.
    Job job = training_job(make_layout({{"x", {200}}}), 1);
    job.objective = [](const Vector& x, int, std::int64_t) {
        return Eigen::VectorXd::Ones(x.entries()).eval();
    };
    CompressedRun run(2, options_of(make_qsgd({1, 200}), false), std::move(job));

    const double level = 0.1 * std::sqrt(200.0);
    const Eigen::ArrayXd steps = (1 - run.model().array()) / level;
    CHECK(((steps - 0.5).abs() < 1e-9).count() > 5);
}

TEST_CASE("compressed SGD: a gathered message is received n - 1 times, and sent on as often") {
    const LayoutPtr layout = small_layout();
    for (const AllGather how : {AllGather::ring, AllGather::bruck})
        for (const int n : {1, 2, 3, 4, 5, 8}) {
            CAPTURE(n);
            SynchronousSgdOptions options = options_of(make_qsgd({7, 5}), true);
            options.exchange.aggregation.all_gather = how;
            // 26 entries of 4 bits, buckets of 5: 3 + 1 + 2 + 1 norms of 32 bits
            const Bytes message{(26 * 4 + 7 * 32) / 8};

            CompressedRun run(n, options, training_job(layout, 3));

            for (int i = 0; i < n; ++i) {
                CHECK(run.network.traffic(i).sent == 3 * ((n - 1) * message));
                CHECK(run.network.traffic(i).received == 3 * ((n - 1) * message));
            }
        }
}

TEST_CASE("compressed SGD: messages that add up cost an all-reduce of one") {
    const LayoutPtr layout = make_layout({{"a", {64, 8}}, {"b", {16}}});
    const SynchronousSgdOptions options = options_of(make_random_k(0.25, false), true);
    const std::int64_t message = 4 * (128 + 4);

    CompressedRun run(4, options, training_job(layout, 3));

    for (int i = 0; i < 4; ++i)
        CHECK(run.network.traffic(i).sent == Bytes{3 * 2 * 3 * message / 4});
}

TEST_CASE("compressed SGD: a stand-in's messages weigh as the net that is charged") {
    Job job = training_job(small_layout(), 2);
    job.charged = make_layout({{"a", {1000, 10}}, {"b", {77}}});
    const SynchronousSgdOptions options = options_of(make_terngrad(), false);
    const Bytes message{(2 * 10'077 + 64 + 7) / 8};

    CompressedRun run(3, options, std::move(job));

    CHECK(run.network.traffic(1).sent == 2 * (2 * message));
    CHECK(run.elapsed() > 2 * (step_of_tests + Duration{6 * 10'077 * 9}));  // 3 + 3 passes
}

}  // namespace
}  // namespace paceline::compressed_exchange_test
