#include "algorithms/compressed/choco_sgd.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/decentralized/dsgd_awc.hpp"
#include "analysis/forms/choco_forms.hpp"
#include "tests/algorithms/compressed/choco_options.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/fabrics/machines.hpp"
#include "topologies/fabrics/star.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::choco_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

struct ChocoRun : TrainingRun {
    ChocoRun(const Mixing& mixing, const ChocoSgdOptions& options, Job job)
        : TrainingRun(mixing.nodes(), link, with(std::move(job), mixing)) {
        spawn_all([=](Worker& self) { return choco_sgd(self, options); });
        simulation.run();
        REQUIRE(processes.finished());
    }
    static Job with(Job job, const Mixing& mixing) {
        job.mixing = std::make_shared<const Mixing>(mixing);
        return job;
    }
};

// One column per worker: its model.
Eigen::MatrixXd models(TrainingRun& run) {
    Eigen::MatrixXd all(run.model_of(0).size(), run.cluster.workers());
    for (int i = 0; i < run.cluster.workers(); ++i) all.col(i) = run.model_of(i);
    return all;
}

std::vector<Mixing> some_mixings() {
    return {make_ring_mixing(1),     make_ring_mixing(2), make_ring_mixing(5),
            make_torus_mixing(2, 4), make_star_mixing(6), make_exponential_mixing(6)};
}

TEST_CASE("CHOCO-SGD: without loss and with a consensus step of 1 it is D-PSGD") {
    for (const Mixing& mixing : some_mixings()) {
        CAPTURE(mixing.nodes());
        TrainingRun plain(mixing.nodes(), link,
                          ChocoRun::with(training_job(small_layout(), 25), mixing));
        plain.spawn_all([](Worker& self) { return dsgd_awc(self); });
        plain.simulation.run();

        ChocoRun run(mixing, choco_options(make_top_k(1), 1), training_job(small_layout(), 25));

        CHECK((models(run) - models(plain)).cwiseAbs().maxCoeff() < 1e-10);
    }
}

TEST_CASE("CHOCO-SGD: alone it is SGD, whatever the compressor, and codes for nothing") {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < 10; ++k) x -= 0.1 * pull_to_own_target(x, 0, k);

    ChocoRun run(make_ring_mixing(1), choco_options(make_scaled_sign(), 0.5),
                 training_job(small_layout(), 10));

    CHECK((run.model_of(0) - x).cwiseAbs().maxCoeff() < 1e-13);
    CHECK(run.elapsed() == 10 * (step_of_tests + Duration{4 * 26 * 9}));
    CHECK(run.network.traffic(0).sent == Bytes{0});
}

// Each worker keeps a hat of every other worker, and compresses by sorting.
Eigen::MatrixXd by_plain_matrices(const Mixing& mixing, double gamma_c, std::int64_t steps) {
    const LayoutPtr layout = small_layout();
    const int n = mixing.nodes();
    const Eigen::MatrixXd w = matrix(mixing);
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, n);
    Eigen::MatrixXd hats = x;
    for (std::int64_t k = 0; k < steps; ++k) {
        Eigen::MatrixXd next = x;
        for (int i = 0; i < n; ++i) {
            next.col(i) -= 0.1 * pull_to_own_target(x.col(i), i, k);
            for (int j = 0; j < n; ++j)
                next.col(i) += gamma_c * w(i, j) * (hats.col(j) - hats.col(i));
        }
        x = next;
        for (int i = 0; i < n; ++i)
            hats.col(i) += largest_of_tensors(*layout, x.col(i) - hats.col(i), 0.2);
    }
    return x;
}

TEST_CASE("CHOCO-SGD: it agrees with plain matrices of hats") {
    for (const Mixing& mixing : some_mixings())
        for (const double gamma_c : {0.3, 1.0}) {
            CAPTURE(mixing.nodes());
            CAPTURE(gamma_c);

            ChocoRun run(mixing, choco_options(make_top_k(0.2), gamma_c),
                         training_job(small_layout(), 30));

            CHECK((models(run) - by_plain_matrices(mixing, gamma_c, 30)).cwiseAbs().maxCoeff() <
                  1e-10);
        }
}

TEST_CASE("CHOCO-SGD, property: the mean of the models moves by the mean gradient alone") {
    for (const Compressor& compressor :
         {make_top_k(0.1), make_scaled_sign(), make_random_k(0.1, false), make_qsgd({1, 8})})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(compressor.name);
            CAPTURE(seed);
            Job job = training_job(small_layout(), 12);
            job.seed = seed;
            // Gradients are linear, so the mean descends towards the mean target.
            Eigen::VectorXd mean = Eigen::VectorXd::Ones(26);
            for (std::int64_t k = 0; k < 12; ++k) {
                Eigen::VectorXd g = 0 * mean;
                for (int i = 0; i < 8; ++i) g += pull_to_own_target(mean, i, k) / 8;
                mean -= 0.1 * g;
            }

            ChocoRun run(make_torus_mixing(2, 4), choco_options(compressor, 0.2), std::move(job));

            CHECK((models(run).rowwise().mean() - mean).cwiseAbs().maxCoeff() < 1e-10);
        }
}

TEST_CASE("CHOCO-SGD: it brings workers together that share no gradient") {
    // With different initial models the hats start apart too: the gradients of the first step move
    // them there.
    Job job = training_job(small_layout(), 400);
    job.objective = [](const Vector& x, int rank, std::int64_t k) {
        return k == 0 ? Eigen::VectorXd(pull_to_own_target(x.values(), rank, 0))
                      : Eigen::VectorXd::Zero(x.entries()).eval();
    };
    ChocoRun run(make_ring_mixing(5), choco_options(make_top_k(0.1), 0.1), std::move(job));

    const Eigen::MatrixXd all = models(run);
    CHECK((all.colwise() - all.rowwise().mean()).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("CHOCO-SGD: each step but the first brings a message to each neighbor") {
    ChocoRun run(make_torus_mixing(2, 4), choco_options(make_scaled_sign(), 0.5),
                 timing_job(small_layout(), 7));

    for (int i = 0; i < 8; ++i) {
        CHECK(run.network.traffic(i).sent == Bytes{6 * 3 * 20});  // 26 + 4 x 32 bits
        CHECK(run.network.traffic(i).received == Bytes{6 * 3 * 20});
    }
}

TEST_CASE("CHOCO-SGD: the message travels beside the next gradient") {
    const LayoutPtr layout = make_layout({{"all", {1'000'000}}});
    const ChocoSgdOptions options = choco_options(make_scaled_sign(), 0.5, {Duration{0}});
    ChocoRun small(make_ring_mixing(6), options, timing_job(small_layout(), 5));
    ChocoRun large(make_ring_mixing(6), options, timing_job(layout, 5));

    CHECK(small.elapsed() == 5 * step_of_tests);
    // two messages of 125,004 bytes take 2 x 1,000,032 ns plus 10 us of latency
    CHECK(large.elapsed() == step_of_tests + 4 * (2 * 1'000'032ns + 10us));
    const StepModelInput in = on_star(6, idle_star(link), step_of_tests, layout);
    CHECK(*choco_sgd_step_time(options, make_ring_mixing(6), 0, in) == step_of_tests);
    CHECK(*choco_sgd_step_time(options, make_ring_mixing(6), 1, in) == 2 * 1'000'032ns + 10us);
}

// Some pieces are single tensors, others not.
ChocoSgdOptions in_pieces(ChocoSgdOptions options, Begin begin) {
    options.exchange.schedule.whole = false;
    options.exchange.schedule.begin = begin;
    return options;
}

Job in_buckets(Job job, std::int64_t entries) {
    job.timing = make_step_timing(step_of_tests, *small_layout(), {5, 1, 3, 1}, entries);
    return job;
}

TEST_CASE("CHOCO-SGD: in pieces, of tensors and of several, it trains as whole, in every bit") {
    for (const Mixing& mixing : some_mixings())
        for (const std::int64_t entries : {1, 12}) {
            CAPTURE(mixing.nodes());
            CAPTURE(entries);
            const Job job = in_buckets(training_job(small_layout(), 30), entries);
            const ChocoSgdOptions whole = choco_options(make_top_k(0.2), 0.3);
            ChocoRun expected(mixing, whole, job);
            REQUIRE((models(expected) - by_plain_matrices(mixing, 0.3, 30)).cwiseAbs().maxCoeff() <
                    1e-10);

            for (const Begin begin : {Begin::after_backward, Begin::beside_backward}) {
                ChocoRun run(mixing, in_pieces(whole, begin), job);
                CHECK(models(run) == models(expected));
            }
        }
}

TEST_CASE("CHOCO-SGD: one piece takes the time of the whole") {
    for (const Mixing& mixing : some_mixings()) {
        const Job job = in_buckets(timing_job(small_layout(), 9), 1000);
        const ChocoSgdOptions whole = choco_options(make_qsgd({7, 8}), 0.3, {Duration{90'000}});

        ChocoRun expected(mixing, whole, job);
        ChocoRun run(mixing, in_pieces(whole, Begin::after_backward), job);
        CHECK(run.elapsed() == expected.elapsed());
        CHECK(run.sent_by_all() == expected.sent_by_all());
    }
}

// Machines of g devices, whose leaders exchange.
struct MachinesRun {
    Simulation simulation;
    Network network;
    Cluster cluster;
    Processes processes{simulation};

    MachinesRun(const Mixing& machines, int g, ChocoSgdOptions options, const Job& job)
        : network(simulation, fabric_of(machines.nodes(), g)),
          cluster(network, ChocoRun::with(job, machines)) {
        options.exchange.aggregation = {.machines = ByMachine::leaders, .devices = g};
        for (int rank = 0; rank < machines.nodes() * g; ++rank)
            processes.spawn("node " + std::to_string(rank),
                            choco_sgd(cluster.worker(rank), options));
        simulation.run();
        REQUIRE(processes.finished());
    }
    static Fabric fabric_of(int machines, int g) {
        if (g == 1) return make_star(machines, link, link);
        return make_machines(machines * g, g, {BusKind::switched, {10_Gbps, 2us}},
                             make_star(machines, link, link));
    }
    Eigen::MatrixXd models() {
        Eigen::MatrixXd all(26, cluster.workers());
        for (int i = 0; i < cluster.workers(); ++i) all.col(i) = cluster.worker(i).model().values();
        return all;
    }
};

TEST_CASE("CHOCO-SGD: machines of one device take the time of workers and train alike") {
    std::mt19937_64 rng(5);
    for (const Mixing& mixing : some_mixings())
        for (const bool whole : {true, false})
            for (const Begin begin : {Begin::after_backward, Begin::beside_backward}) {
                if (whole && begin == Begin::beside_backward) continue;
                CAPTURE(mixing.nodes());
                CAPTURE(whole);
                ChocoSgdOptions options = choco_options(
                    make_scaled_sign(), 0.4, {Duration{static_cast<std::int64_t>(rng() % 90'000)}});
                if (!whole) options = in_pieces(options, begin);
                const Job job = in_buckets(training_job(small_layout(), 12), 1);

                ChocoRun flat(mixing, options, job);
                MachinesRun run(mixing, 1, options, job);

                CHECK(run.models() == models(flat));
                CHECK(run.simulation.now().time_since_epoch() == flat.elapsed());
            }
}

// The method of machines in plain matrices: one column per machine.
Eigen::MatrixXd machines_by_plain_matrices(const Mixing& mixing, int g, double gamma_c,
                                           std::int64_t steps) {
    const LayoutPtr layout = small_layout();
    const int p = mixing.nodes();
    const Eigen::MatrixXd w = matrix(mixing);
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, p);
    Eigen::MatrixXd hats = x;
    for (std::int64_t k = 0; k < steps; ++k) {
        Eigen::MatrixXd next = x + gamma_c * (hats * w.transpose() - hats);
        for (int m = 0; m < p; ++m)
            for (int d = 0; d < g; ++d)
                next.col(m) -= 0.1 / g * pull_to_own_target(x.col(m), m * g + d, k);
        x = next;
        for (int m = 0; m < p; ++m)
            hats.col(m) += largest_of_tensors(*layout, x.col(m) - hats.col(m), 0.2);
    }
    return x;
}

TEST_CASE("CHOCO-SGD: by machine it agrees with plain matrices, and a machine has one model") {
    for (const Mixing& mixing : some_mixings())
        for (const int g : {2, 3})
            for (const Begin begin : {Begin::after_backward, Begin::beside_backward})
                for (const bool whole : {true, false}) {
                    if (whole && begin == Begin::beside_backward) continue;
                    CAPTURE(mixing.nodes());
                    CAPTURE(g);
                    ChocoSgdOptions options = choco_options(make_top_k(0.2), 0.3);
                    if (!whole) options = in_pieces(options, begin);

                    MachinesRun run(mixing, g, options,
                                    in_buckets(training_job(small_layout(), 30), 1));

                    const Eigen::MatrixXd expected = machines_by_plain_matrices(mixing, g, 0.3, 30);
                    const Eigen::MatrixXd found = run.models();
                    for (int i = 0; i < mixing.nodes() * g; ++i) {
                        CHECK((found.col(i) - expected.col(i / g)).cwiseAbs().maxCoeff() < 1e-10);
                        CHECK(found.col(i) == found.col(i / g * g));
                    }
                }
}

// In a grid of 3 x 3 machines the one in the middle has 4 neighbors, and the first one 2.
TEST_CASE("CHOCO-SGD: by machine a leader decodes the messages of its machine's neighbors") {
    const Mixing grid = make_grid_mixing(3, 3);
    for (const int g : {1, 2}) {
        const auto time_of = [&](Duration per_entry) {
            const MachinesRun run(grid, g, choco_options(make_top_k(0.2), 0.5, {per_entry}),
                                  timing_job(small_layout(), 1));
            return run.simulation.now().time_since_epoch();
        };
        const ChocoSgdOptions options = choco_options(make_top_k(0.2), 0.5, {3us});
        CHECK(time_of(3us) - time_of({}) == choco_coding_time(options, *small_layout(), 4));
        CHECK(choco_coding_time(options, *small_layout(), 4) >
              choco_coding_time(options, *small_layout(), 2));
    }
}

TEST_CASE("CHOCO-SGD: by machine only leaders send between machines") {
    const int g = 3;
    MachinesRun run(make_torus_mixing(2, 4), g, choco_options(make_scaled_sign(), 0.5),
                    timing_job(small_layout(), 7));

    // Traffic is what leaves a machine: 6 messages of 20 bytes to each of 3 leaders.
    for (int i = 0; i < 8 * g; ++i)
        CHECK(run.network.traffic(i).sent == Bytes{i % g == 0 ? 6 * 3 * 20 : 0});
}

TEST_CASE(
    "CHOCO-SGD, property: cancelled anywhere, in pieces and by machine, it frees everything") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937_64 rng(seed);
        const ChocoSgdOptions options =
            in_pieces(choco_options(make_top_k(0.2), 0.3),
                      rng() % 2 == 0 ? Begin::after_backward : Begin::beside_backward);
        TrainingRun run(
            6, link,
            ChocoRun::with(in_buckets(training_job(small_layout(), 30), 1), make_ring_mixing(6)));
        run.spawn_all([=](Worker& self) { return choco_sgd(self, options); });
        run.simulation.run(Time{Duration{static_cast<std::int64_t>(rng() % 20'000'000'000)}});
        CHECK(!run.processes.finished());
    }
}

}  // namespace
}  // namespace paceline::choco_sgd_test
