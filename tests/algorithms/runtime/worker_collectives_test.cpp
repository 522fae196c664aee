// Collectives of workers, over all and over neighbors: times and values.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/runtime/worker.hpp"
#include "analysis/forms/step_models.hpp"
#include "sim/engine/check.hpp"
#include "tests/algorithms/runtime/sample_algorithms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"

namespace paceline::worker_collectives_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link link{1_Gbps, 5us};  // 10 us from host to host; 125 bytes take 1 us
const Link no_latency{1_Gbps};
constexpr std::array all_reduces{AllReduce::ring, AllReduce::recursive_doubling,
                                 AllReduce::halving_doubling};

struct Outcome {
    Duration at{};
    std::vector<Vector> values;
};

Duration now_of(const Worker& self) {
    return self.simulation().now().time_since_epoch();
}

Vector filled(const LayoutPtr& layout, double value) {
    return {layout, Eigen::VectorXd::Constant(layout->entries(), value)};
}

Task<> reduce_gradient(Worker& self, AllReduce how, Outcome& outcome) {
    const Vector g = co_await self.gradient(self.model());
    Vector mean = co_await self.all_reduce(g, how);
    outcome.values.push_back(std::move(mean));
    outcome.at = now_of(self);
}

Task<> reduce_after(Worker& self, Duration delay, Vector value, Outcome& outcome) {
    co_await self.compute(delay);
    Vector mean = co_await self.all_reduce(value);
    outcome.values.push_back(std::move(mean));
    outcome.at = now_of(self);
}

Task<> reduce_then_change(Worker& self, Outcome& outcome) {
    Vector& x = self.model();
    Pending<Vector> reduction = self.start(self.all_reduce(x));
    x *= 1000;
    Vector mean = co_await std::move(reduction);
    outcome.values.push_back(std::move(mean));
}

Task<> average_once(Worker& self, Duration delay, Outcome& outcome) {
    co_await self.compute(delay);
    Vector average = co_await self.neighbor_average(self.model());
    outcome.values.push_back(std::move(average));
    outcome.at = now_of(self);
}

// The k-th value of worker i is 100 k + i.
Task<> average_numbered(Worker& self, Duration delay, int rounds, Outcome& outcome) {
    for (int k = 0; k < rounds; ++k) {
        co_await self.compute(delay);
        Vector average =
            co_await self.neighbor_average(filled(self.model().layout(), 100.0 * k + self.rank()));
        outcome.values.push_back(std::move(average));
    }
    outcome.at = now_of(self);
}

Task<> reduce_beside_gradient(Worker& self, Outcome& outcome) {
    Pending<Vector> reduction = self.start(self.all_reduce(self.model()));
    Vector g = co_await self.gradient(self.model());
    Vector mean = co_await std::move(reduction);
    outcome.values = {std::move(g), std::move(mean)};
    outcome.at = now_of(self);
}

Task<> drop_one_then_reduce(Worker& self, Outcome& outcome) {
    {
        const Pending<Vector> dropped =
            self.start(self.all_reduce(filled(self.model().layout(), 1e6)));
        co_await self.compute(15us);
    }
    const auto mine = static_cast<double>(self.rank());
    Vector mean = co_await self.all_reduce(filled(self.model().layout(), mine));
    outcome.values.push_back(std::move(mean));
}

Task<> four_at_once(Worker& self, Duration delay, Outcome& outcome) {
    const LayoutPtr layout = self.model().layout();
    const double i = self.rank();
    co_await self.compute(delay);
    Pending<Vector> first = self.start(self.all_reduce(filled(layout, i), AllReduce::ring));
    Pending<Vector> second =
        self.start(self.all_reduce(filled(layout, 10 * i), AllReduce::recursive_doubling));
    Pending<Vector> third = self.start(self.neighbor_average(filled(layout, 100 * i)));
    Pending<> fourth = self.start(self.all_gather(1000_B, AllGather::bruck));
    co_await std::move(fourth);
    Vector c = co_await std::move(third);
    Vector b = co_await std::move(second);
    Vector a = co_await std::move(first);
    outcome.values = {std::move(a), std::move(b), std::move(c)};
}

Task<> await_in_other_order(Worker& self, bool reversed, Outcome& outcome) {
    const LayoutPtr layout = self.model().layout();
    Task<Vector> first = self.all_reduce(filled(layout, 1));
    Task<Vector> second = self.all_reduce(filled(layout, 2));
    if (reversed) {
        Pending<Vector> b = self.start(std::move(second));
        Vector one = co_await std::move(first);
        Vector two = co_await std::move(b);
        outcome.values = {std::move(one), std::move(two)};
    } else {
        Pending<Vector> a = self.start(std::move(first));
        Vector two = co_await std::move(second);
        Vector one = co_await std::move(a);
        outcome.values = {std::move(one), std::move(two)};
    }
}

Task<> gather_and_merge(Worker& self, Duration& gathered, Duration& merged) {
    const Duration begin = now_of(self);
    co_await self.all_gather(1250_B, AllGather::ring);
    gathered = now_of(self) - begin;
    const UnionWeight weight = [](const Union& u) { return u.count * 1250_B; };
    co_await self.sparse_all_reduce(weight);
    merged = now_of(self) - begin - gathered;
}

struct Reductions {
    TrainingRun run;
    std::vector<Outcome> outcomes;

    Reductions(int nodes, AllReduce how, Job job)
        : run(nodes, link, std::move(job)), outcomes(static_cast<std::size_t>(nodes)) {
        run.spawn_all(
            [&](Worker& self) { return reduce_gradient(self, how, outcome_of(self.rank())); });
    }
    Outcome& outcome_of(int rank) { return outcomes[static_cast<std::size_t>(rank)]; }
};

Job with_mixing(Job job, Mixing mixing) {
    job.mixing = std::make_shared<const Mixing>(std::move(mixing));
    return job;
}

// Row i: the initial model of worker i, different for each.
Eigen::MatrixXd scattered(int nodes, Eigen::Index entries) {
    Eigen::MatrixXd x(nodes, entries);
    for (int i = 0; i < nodes; ++i) x.row(i) = own_target(3 * i + 1, entries).transpose();
    return x;
}

void scatter(TrainingRun& run) {
    const Eigen::MatrixXd x = scattered(run.cluster.workers(), run.model_of(0).size());
    for (int i = 0; i < run.cluster.workers(); ++i)
        run.cluster.worker(i).model().writable() = x.row(i).transpose();
}

// Models as rows.
Eigen::MatrixXd models_of(TrainingRun& run) {
    Eigen::MatrixXd x(run.cluster.workers(), run.model_of(0).size());
    for (int i = 0; i < run.cluster.workers(); ++i) x.row(i) = run.model_of(i).transpose();
    return x;
}

TEST_CASE("all-reduce of workers: all have the mean, with the same bits, for every kind") {
    for (const AllReduce how : all_reduces)
        for (int n = 1; n <= 9; ++n) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);
            Reductions reductions(n, how, training_job(small_layout(), 1));

            reductions.run.simulation.run();

            Eigen::VectorXd mean = Eigen::VectorXd::Zero(26);
            for (int i = 0; i < n; ++i)
                mean += pull_to_own_target(Eigen::VectorXd::Ones(26), i, 0) / n;
            const Eigen::VectorXd& first = reductions.outcomes[0].values.at(0).values();
            REQUIRE((first - mean).norm() < 1e-14);
            for (const Outcome& outcome : reductions.outcomes)
                REQUIRE(outcome.values.at(0).values() == first);
        }
}

TEST_CASE("all-reduce of workers: it takes the computation and the collective's closed form") {
    const LayoutPtr layout = make_layout({{"all", {1001}}});
    for (const AllReduce how : all_reduces)
        for (int n = 1; n <= 9; ++n) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(n);
            Reductions reductions(n, how, training_job(layout, 1));

            reductions.run.simulation.run();

            CHECK(reductions.run.elapsed() ==
                  1ms + all_reduce_time(how, n, 4004_B, idle_network(link)).value());
        }
}

TEST_CASE(
    "all-reduce of workers: sums are formed in the order of ranks, in whatever order they enter") {
    const LayoutPtr layout = make_layout({{"one", {1}}});
    const auto mean_of = [&](std::vector<double> values, std::vector<Duration> delays) {
        TrainingRun run(3, link, training_job(layout, 1));
        std::vector<Outcome> outcomes(3);
        for (int i = 0; i < 3; ++i) {
            const auto at = static_cast<std::size_t>(i);
            run.spawn(i, reduce_after(run.cluster.worker(i), delays[at], filled(layout, values[at]),
                                      outcomes[at]));
        }
        run.simulation.run();
        return outcomes[1].values.at(0).values()(0);
    };

    // (1e17 + 1) - 1e17 = 0 but (1e17 - 1e17) + 1 = 1
    CHECK(mean_of({1e17, 1, -1e17}, {0us, 0us, 0us}) == 0);
    CHECK(mean_of({1e17, 1, -1e17}, {0us, 900us, 10us}) == 0);
    CHECK(mean_of({1e17, -1e17, 1}, {900us, 0us, 10us}) == Approx(1.0 / 3));
}

TEST_CASE("all-reduce of workers: all wait for the last to enter") {
    const LayoutPtr layout = make_layout({{"all", {1000}}});
    TrainingRun run(4, link, training_job(layout, 1));
    std::vector<Outcome> outcomes(4);
    for (int i = 0; i < 4; ++i)
        run.spawn(i, reduce_after(run.cluster.worker(i), i == 2 ? Duration{5ms} : Duration{},
                                  filled(layout, i), outcomes[static_cast<std::size_t>(i)]));

    run.simulation.run();

    for (const Outcome& outcome : outcomes) {
        CHECK(outcome.at > 5ms);
        CHECK(outcome.at <= 5ms + ring_all_reduce_time(4, 4000_B, idle_star(link)));
        CHECK(outcome.values.at(0).values()(0) == 1.5);
    }
}

TEST_CASE("all-reduce of workers: the value that enters is a snapshot of what was passed") {
    TrainingRun run(2, link, training_job(small_layout(), 1));
    std::vector<Outcome> outcomes(2);
    run.spawn(0, reduce_then_change(run.cluster.worker(0), outcomes[0]));
    run.spawn(1, reduce_then_change(run.cluster.worker(1), outcomes[1]));

    run.simulation.run();

    CHECK(outcomes[0].values.at(0).values() == Eigen::VectorXd::Ones(26));
    CHECK(outcomes[1].values.at(0).values() == Eigen::VectorXd::Ones(26));
}

TEST_CASE("all-reduce of workers: half precision halves the bytes") {
    Job job = training_job(make_layout({{"all", {1000}}}), 1);
    job.wire = fp16;
    Reductions whole(4, AllReduce::ring, training_job(make_layout({{"all", {1000}}}), 1));
    Reductions half(4, AllReduce::ring, std::move(job));

    whole.run.simulation.run();
    half.run.simulation.run();

    CHECK(whole.run.network.traffic(1).sent == Bytes{6000});
    CHECK(half.run.network.traffic(1).sent == Bytes{3000});
    CHECK(half.run.elapsed() == 1ms + ring_all_reduce_time(4, 2000_B, idle_star(link)));
}

TEST_CASE("backward: a bucket's all-reduce overlaps with the rest of backward") {
    const LayoutPtr layout = make_layout({{"front", {100, 100}}, {"back", {50, 100}}});
    Job job = timing_job(layout, 2);
    job.timing = make_step_timing(3ms, *layout, {1, 1}, 1);
    TrainingRun run(4, link, std::move(job));
    run.spawn_all([](Worker& self) { return overlapped_reductions(self, AllReduce::ring); });

    run.simulation.run();

    // The first bucket's all-reduce ends before the second bucket is complete.
    const Duration tail = ring_all_reduce_time(4, 40'000_B, idle_star(link));
    CHECK(ring_all_reduce_time(4, 20'000_B, idle_star(link)) < 1ms);
    CHECK(run.elapsed() == 2 * (3ms + tail));
    CHECK(run.cluster.state(3).compute_time == 6ms);
}

TEST_CASE("backward: all-reduces that outlast backward share the links") {
    const LayoutPtr layout = make_layout({{"front", {100, 100}}, {"back", {50, 100}}});
    Job job = timing_job(layout, 1);
    job.timing = make_step_timing(300us, *layout, {1, 1}, 1);
    TrainingRun run(2, no_latency, std::move(job));
    run.spawn_all(
        [](Worker& self) { return overlapped_reductions(self, AllReduce::recursive_doubling); });

    run.simulation.run();

    // From 200 us on, each way carries 20,000 and 40,000 bytes: 480 us.
    CHECK(to_seconds(run.elapsed()) == Approx(680e-6).epsilon(1e-9));
}

TEST_CASE("neighbor average: the matrix form, step by step, on ring and complete graph") {
    for (const int n : {1, 2, 3, 4, 5, 8})
        for (const Mixing& mixing : {make_ring_mixing(n), make_complete_mixing(n)}) {
            CAPTURE(n);
            TrainingRun run(n, link, with_mixing(training_job(small_layout(), 7), mixing));
            scatter(run);
            run.spawn_all([](Worker& self) { return dsgd(self); });

            run.simulation.run();

            const Eigen::MatrixXd w = matrix(mixing);
            Eigen::MatrixXd x = scattered(n, 26);
            for (int k = 0; k < 7; ++k) {
                Eigen::MatrixXd stepped = x;
                for (int i = 0; i < n; ++i)
                    stepped.row(i) -=
                        0.1 * pull_to_own_target(x.row(i).transpose(), i, k).transpose();
                x = w * stepped;
            }
            CHECK((models_of(run) - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

TEST_CASE("neighbor average: a step takes the gradient, the latency and degree times S/B") {
    const LayoutPtr layout = make_layout({{"all", {125, 10}}});  // 5000 bytes, 40 us
    const auto time_of = [&](const Mixing& mixing) {
        TrainingRun run(mixing.nodes(), link, with_mixing(timing_job(layout, 4), mixing));
        run.spawn_all([](Worker& self) { return dsgd(self); });
        run.simulation.run();
        return to_seconds(run.elapsed());
    };

    CHECK(time_of(make_ring_mixing(1)) == Approx(4 * 1000e-6).epsilon(1e-9));
    CHECK(time_of(make_ring_mixing(2)) == Approx(4 * 1050e-6).epsilon(1e-9));
    CHECK(time_of(make_ring_mixing(8)) == Approx(4 * 1090e-6).epsilon(1e-9));
    CHECK(time_of(make_complete_mixing(6)) == Approx(4 * 1210e-6).epsilon(1e-9));
}

TEST_CASE("neighbor average: a straggler delays only its neighbors") {
    const LayoutPtr layout = make_layout({{"all", {125, 10}}});
    TrainingRun run(8, link, with_mixing(timing_job(layout, 1), make_ring_mixing(8)));
    std::vector<Outcome> outcomes(8);
    for (int i = 0; i < 8; ++i)
        run.spawn(i, average_once(run.cluster.worker(i), i == 0 ? Duration{7ms} : Duration{},
                                  outcomes[static_cast<std::size_t>(i)]));

    run.simulation.run();

    for (const std::size_t late : {0U, 1U, 7U}) {
        CAPTURE(late);
        const bool own_messages_only = late == 0;
        const double expected = own_messages_only ? 7080e-6 : 7090e-6;
        CHECK(to_seconds(outcomes[late].at) == Approx(expected).epsilon(1e-9));
    }
    for (const std::size_t early : {2U, 3U, 4U, 5U, 6U}) {
        CAPTURE(early);
        CHECK(to_seconds(outcomes[early].at) == Approx(90e-6).epsilon(1e-9));
    }
}

TEST_CASE("neighbor average: k-th calls belong together, however far one worker is ahead") {
    // 0 listens to nobody, so it never waits; 1 averages with it, slowly.
    Mixing directed({{{0, 1}}, {{0, 0.5}, {1, 0.5}}});
    TrainingRun run(2, link, with_mixing(training_job(small_layout(), 1), std::move(directed)));
    std::vector<Outcome> outcomes(2);
    run.spawn(0, average_numbered(run.cluster.worker(0), 0us, 4, outcomes[0]));
    run.spawn(1, average_numbered(run.cluster.worker(1), 1ms, 4, outcomes[1]));

    run.simulation.run();

    CHECK(outcomes[0].at < 100us);
    CHECK(outcomes[1].at >= 4ms);
    REQUIRE(outcomes[1].values.size() == 4);
    CHECK(outcomes[0].values[3].values()(0) == 300);
    CHECK(outcomes[1].values[0].values()(0) == 0.5);
    CHECK(outcomes[1].values[1].values()(0) == 100.5);
    CHECK(outcomes[1].values[2].values()(0) == 200.5);
    CHECK(outcomes[1].values[3].values()(0) == 300.5);
}

TEST_CASE("neighbor average: rounds keep apart while a straggler is several rounds behind") {
    TrainingRun run(8, link, with_mixing(training_job(small_layout(), 1), make_ring_mixing(8)));
    std::vector<Outcome> outcomes(8);
    for (int i = 0; i < 8; ++i)
        run.spawn(i, average_numbered(run.cluster.worker(i), i == 0 ? Duration{3ms} : Duration{}, 3,
                                      outcomes[static_cast<std::size_t>(i)]));

    run.simulation.run();

    const Eigen::VectorXd once = matrix(make_ring_mixing(8)) * Eigen::VectorXd::LinSpaced(8, 0, 7);
    for (int i = 0; i < 8; ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            CAPTURE(i);
            CAPTURE(k);
            const Outcome& outcome = outcomes[static_cast<std::size_t>(i)];
            CHECK(outcome.values.at(k).values()(0) ==
                  Approx(100.0 * static_cast<double>(k) + once(i)).epsilon(1e-13));
        }
    CHECK(outcomes[4].at < outcomes[1].at);
}

TEST_CASE("neighbor average: without a mixing it is refused") {
    TrainingRun run(2, link, timing_job(small_layout(), 1));
    run.spawn_all([](Worker& self) { return dsgd(self); });

    CHECK_THROWS_AS(run.simulation.run(), LogicError);
}

TEST_CASE("neighbor average: half precision halves the bytes") {
    Job job = with_mixing(training_job(small_layout(), 3), make_ring_mixing(4));
    job.wire = fp16;
    TrainingRun run(4, link, std::move(job));
    run.spawn_all([](Worker& self) { return dsgd(self); });

    run.simulation.run();

    CHECK(run.network.traffic(2).sent == 3 * (2 * 52_B));
    CHECK(run.network.traffic(2).received == 3 * (2 * 52_B));
}

TEST_CASE("non-blocking: an all-reduce beside a gradient takes the longer of the two") {
    const auto time_of = [](std::int64_t entries) {
        TrainingRun run(4, link, training_job(make_layout({{"all", {entries}}}), 1));
        std::vector<Outcome> outcomes(4);
        run.spawn_all([&](Worker& self) {
            return reduce_beside_gradient(self, outcomes[static_cast<std::size_t>(self.rank())]);
        });
        run.simulation.run();
        return run.elapsed();
    };
    const Duration short_one = ring_all_reduce_time(4, 4000_B, idle_star(link));
    const Duration long_one = ring_all_reduce_time(4, 4'000'000_B, idle_star(link));

    CHECK(short_one < 1ms);
    CHECK(long_one > 1ms);
    CHECK(time_of(1000) == 1ms);
    CHECK(time_of(1'000'000) == long_one);
}

TEST_CASE("non-blocking: concurrent collectives use the values that were passed") {
    TrainingRun run(3, link, training_job(small_layout(), 1));
    std::vector<Outcome> outcomes(3);
    run.spawn_all([&](Worker& self) {
        return reduce_beside_gradient(self, outcomes[static_cast<std::size_t>(self.rank())]);
    });

    run.simulation.run();

    CHECK(outcomes[2].values.at(0).values() == pull_to_own_target(Eigen::VectorXd::Ones(26), 2, 0));
    CHECK((outcomes[2].values.at(1).values() - Eigen::VectorXd::Ones(26)).norm() < 1e-14);
}

TEST_CASE("non-blocking: an all-reduce that all drop does not affect the next one") {
    TrainingRun run(4, link, training_job(small_layout(), 1));
    std::vector<Outcome> outcomes(4);
    run.spawn_all([&](Worker& self) {
        return drop_one_then_reduce(self, outcomes[static_cast<std::size_t>(self.rank())]);
    });

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.processes.finished());
    CHECK(run.network.flows_in_flight() == 0);
    for (const Outcome& outcome : outcomes) CHECK(outcome.values.at(0).values()(0) == 1.5);
}

TEST_CASE("non-blocking: several collectives in flight keep apart, with a worker that is late") {
    for (const Duration late : {Duration{}, Duration{3us}, Duration{400us}}) {
        CAPTURE(late.count());
        TrainingRun run(5, link, with_mixing(training_job(small_layout(), 1), make_ring_mixing(5)));
        std::vector<Outcome> outcomes(5);
        run.spawn_all([&](Worker& self) {
            return four_at_once(self, self.rank() == 3 ? late : Duration{},
                                outcomes[static_cast<std::size_t>(self.rank())]);
        });

        run.simulation.run();

        REQUIRE(run.processes.finished());
        CHECK(outcomes[1].values[0].values()(0) == Approx(2));
        CHECK(outcomes[1].values[1].values()(0) == Approx(20));
        CHECK(outcomes[1].values[2].values()(0) == Approx(100));        // (0 + 1 + 2) / 3
        CHECK(outcomes[4].values[2].values()(0) == Approx(700.0 / 3));  // (3 + 4 + 0) / 3
        CHECK(outcomes[3].values[0].values() == outcomes[1].values[0].values());
    }
}

TEST_CASE("non-blocking: the order of calls pairs collectives, not the order of awaiting") {
    TrainingRun run(2, link, training_job(small_layout(), 1));
    std::vector<Outcome> outcomes(2);
    run.spawn(0, await_in_other_order(run.cluster.worker(0), false, outcomes[0]));
    run.spawn(1, await_in_other_order(run.cluster.worker(1), true, outcomes[1]));

    run.simulation.run();

    REQUIRE(run.processes.finished());
    CHECK(outcomes[0].values[0].values()(0) == 1);
    CHECK(outcomes[0].values[1].values()(0) == 2);
    CHECK(outcomes[1].values[0].values()(0) == 1);
    CHECK(outcomes[1].values[1].values()(0) == 2);
}

TEST_CASE("all-gather and sparse all-reduce of workers take their closed forms") {
    TrainingRun run(4, link, timing_job(small_layout(), 1));
    std::vector<Duration> gathered(4);
    std::vector<Duration> merged(4);
    run.spawn_all([&](Worker& self) {
        const auto at = static_cast<std::size_t>(self.rank());
        return gather_and_merge(self, gathered[at], merged[at]);
    });

    run.simulation.run();

    CHECK(gathered[2] == ring_all_gather_time(4, 1250_B, idle_star(link)));
    CHECK(merged[2] == 2 * 10us + 10us + 20us);
}

}  // namespace
}  // namespace paceline::worker_collectives_test
