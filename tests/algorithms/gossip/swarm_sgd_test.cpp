#include "algorithms/gossip/swarm_sgd.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "analysis/forms/gossip_step_models.hpp"
#include "tests/algorithms/gossip/gossip_run.hpp"

namespace paceline::swarm_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};
const Link slow_link{1_Mbps, 100us};

using Swarm = Task<> (*)(Worker&, SwarmSgdOptions);

GossipAlgorithm with(Swarm swarm, const SwarmSgdOptions& options) {
    return [=](Worker& w) { return swarm(w, options); };
}

// Coding costs no time, and 32 bits weigh the same as fp32, so only the values can differ.
SwarmSgdOptions with_lattice(SwarmSgdOptions options, Lattice lattice) {
    options.lattice = lattice;
    options.coding = {Duration::zero()};
    return options;
}

struct Random {
    int n;
    Mixing graph;
    SwarmSgdOptions options;
    Link wires;

    explicit Random(unsigned seed)
        : n(2 + static_cast<int>(seed % 8)),
          graph(seed % 3 == 0 ? make_ring_mixing(n) : make_complete_mixing(n)),
          wires(seed % 2 == 0 ? link : slow_link) {
        options.local_steps = 1 + static_cast<std::int64_t>(seed % 4);
        options.steps_law = seed % 5 < 3 ? StepsLaw::geometric : StepsLaw::fixed;
    }
};

TEST_CASE("swarm SGD, property: two-sided exchanges conserve the sum and bring models together") {
    for (const Swarm swarm : {&swarm_sgd_blocking, &swarm_sgd_non_blocking})
        for (unsigned seed = 0; seed < 40; ++seed) {
            CAPTURE(seed);
            CAPTURE(swarm == &swarm_sgd_blocking);
            const Random at(seed);

            GossipRun run(at.n, at.wires, idle_job(small_layout(), 400, at.graph, seed), seed,
                          with(swarm, at.options));

            CHECK(run.processes.finished());
            CHECK((run.first.rowwise().sum() - run.last().rowwise().sum()).norm() < 1e-10);
            CHECK(spread(run.last()) < 0.02 * spread(run.first));
            CHECK(!run.cluster.metrics().decode_failures());
        }
}

TEST_CASE("swarm SGD, property: gradients that come during exchanges are kept, each of them once") {
    for (const Swarm swarm : {&swarm_sgd_blocking, &swarm_sgd_non_blocking})
        for (unsigned seed = 0; seed < 20; ++seed) {
            CAPTURE(seed);
            const Random at(seed);

            GossipRun run(at.n, slow_link, sloping_job(small_layout(), 50, at.graph, seed), seed,
                          with(swarm, at.options));

            CHECK((run.last().rowwise().sum() - sum_down_the_slope(run.first, 50)).norm() < 1e-9);
        }
}

TEST_CASE("swarm SGD, property: on a lattice of enough reach, the sum is conserved as well") {
    for (const Swarm swarm : {&swarm_sgd_blocking, &swarm_sgd_non_blocking})
        for (unsigned seed = 0; seed < 20; ++seed) {
            CAPTURE(seed);
            const Random at(seed);

            GossipRun run(at.n, at.wires, idle_job(small_layout(), 200, at.graph, seed), seed,
                          with(swarm, with_lattice(at.options, {10, 0.02})));

            CHECK(run.cluster.metrics().decode_failures() == 0);
            CHECK((run.first.rowwise().sum() - run.last().rowwise().sum()).norm() < 1e-10);
            CHECK(spread(run.last()) < 0.05 * spread(run.first) + 0.1 * at.n);
        }
}

TEST_CASE("swarm SGD: a lattice too small for the models fails, and the failure is counted") {
    const Random at(4);
    GossipRun run(at.n, link, idle_job(small_layout(), 20, at.graph, 4), 4,
                  with(&swarm_sgd_non_blocking, with_lattice(at.options, {3, 0.1})));

    CHECK(run.cluster.metrics().decode_failures().value_or(0) > 0);
}

TEST_CASE("swarm SGD: a fine lattice of many points is the exact exchange") {
    for (const Swarm swarm : {&swarm_sgd_blocking, &swarm_sgd_non_blocking, &swarm_sgd_one_sided})
        for (unsigned seed = 0; seed < 5; ++seed) {
            CAPTURE(seed);
            const Random at(seed);
            const auto job = [&] { return idle_job(small_layout(), 100, at.graph, seed); };

            GossipRun exact(at.n, at.wires, job(), seed, with(swarm, at.options));
            GossipRun coded(at.n, at.wires, job(), seed,
                            with(swarm, with_lattice(at.options, {32, 1e-9})));

            CHECK(exact.elapsed() == coded.elapsed());
            CHECK(exact.sent_by_all() == coded.sent_by_all());
            CHECK((exact.last() - coded.last()).norm() < 1e-6);
        }
}

TEST_CASE("swarm SGD: one-sided pulls agree on something that is not the mean") {
    const Mixing graph = make_complete_mixing(6);
    GossipRun run(6, link, idle_job(small_layout(), 200, graph, 1), 1,
                  with(&swarm_sgd_one_sided, {}));

    const Eigen::MatrixXd last = run.last();
    CHECK(spread(last) < 1e-9);
    CHECK((run.first.rowwise().mean() - last.rowwise().mean()).norm() > 0.01);
    CHECK((last.col(0).array() <= run.first.rowwise().maxCoeff().array()).all());
    CHECK((last.col(0).array() >= run.first.rowwise().minCoeff().array()).all());
}

TEST_CASE("swarm SGD: a node that pulls moves half of the way, and its peer does not move") {
    const Mixing pair = make_ring_mixing(2);
    for (unsigned seed = 0; seed < 5; ++seed) {
        CAPTURE(seed);
        GossipRun run(2, link, idle_job(small_layout(), 1, pair, seed), seed,
                      with(&swarm_sgd_one_sided, {}));

        // The first node to end its step pulls the other's initial model; the second pulls what the
        // first has computed.
        const Eigen::VectorXd middle = run.first.rowwise().mean();
        const Eigen::MatrixXd quarters = 0.5 * (run.first.colwise() + middle);
        const Eigen::MatrixXd last = run.last();
        const int first = (last.col(0) - middle).norm() < 1e-12 ? 0 : 1;
        CHECK((last.col(first) - middle).norm() < 1e-12);
        CHECK((last.col(1 - first) - quarters.col(1 - first)).norm() < 1e-12);
    }
}

TEST_CASE("swarm SGD: a node in a burst answers when the burst ends, before it asks itself") {
    Job job = idle_job(small_layout(), 1, make_ring_mixing(2), 1);
    TrainingRun run(2, link, std::move(job));
    const GossipAlgorithm blocking = with(&swarm_sgd_blocking, {});
    const Vector zeros = Vector::zero_like(run.cluster.worker(0).model());
    run.spawn(0, blocking(run.cluster.worker(0)));
    run.spawn(1, begin_late(run.cluster.worker(1), 500us, zeros, blocking));

    run.simulation.run(Time{1500us});
    CHECK(run.model_of(0)(0) == 1);  // it asked half a step ago
    run.simulation.run();

    // Its answer and its own request leave together; then the request is answered.
    const Duration drain = 832ns;
    CHECK(run.elapsed() == 1500us + 2 * drain + 10us + drain + 10us);
    CHECK(run.model_of(0)(0) == 0.5);
    CHECK(run.model_of(1)(0) == 0.5);
}

TEST_CASE("swarm SGD: a blocking pair is local SGD, averaged at the end of each burst") {
    constexpr int steps = 12;
    for (const int burst : {1, 3}) {
        CAPTURE(burst);
        Job job = training_job(small_layout(), steps);
        job.mixing = std::make_shared<const Mixing>(make_ring_mixing(2));
        TrainingRun run(2, link, std::move(job));
        run.spawn_all(with(&swarm_sgd_blocking, {.rule = {0.9}, .local_steps = burst}));
        run.simulation.run();

        Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, 2);
        Eigen::MatrixXd m = Eigen::MatrixXd::Zero(26, 2);
        for (int k = 0; k < steps; ++k) {
            for (int i = 0; i < 2; ++i)
                m.col(i) = 0.9 * m.col(i) + pull_to_own_target(x.col(i), i, k);
            x -= 0.1 * m;
            if ((k + 1) % burst == 0) x.colwise() = x.rowwise().mean().eval();
        }
        for (int i = 0; i < 2; ++i) CHECK((run.model_of(i) - x.col(i)).norm() < 1e-10);
    }
}

// The pair meets at the beginning of a burst and averages the copies of the previous meeting. Later
// progress is kept: x <- x + (s' - s) / 2, then s <- x.
TEST_CASE("swarm SGD: a non-blocking pair averages the copies of the meeting before") {
    constexpr int steps = 11;
    Job job = training_job(small_layout(), steps);
    job.mixing = std::make_shared<const Mixing>(make_ring_mixing(2));
    TrainingRun run(2, link, std::move(job));
    run.spawn_all(with(&swarm_sgd_non_blocking, {.local_steps = 2}));
    run.simulation.run();

    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, 2);
    Eigen::MatrixXd s = x;
    for (int k = 0; k < steps; ++k) {
        const Eigen::MatrixXd at = x;  // gradients begin before the messages arrive
        if (k > 0 && k % 2 == 0) {
            x += 0.5 * (s.rowwise().reverse() - s);
            s = x;
        }
        for (int i = 0; i < 2; ++i) x.col(i) -= 0.1 * pull_to_own_target(at.col(i), i, k);
    }
    for (int i = 0; i < 2; ++i) CHECK((run.model_of(i) - x.col(i)).norm() < 1e-10);
}

Duration time_of(Swarm swarm, int n, const SwarmSgdOptions& options, std::int64_t steps,
                 const Link& wires) {
    Job job = timing_job(small_layout(), steps);
    job.update = 3us;
    job.mixing = std::make_shared<const Mixing>(make_complete_mixing(n));
    TrainingRun run(n, wires, std::move(job));
    run.spawn_all(with(swarm, options));
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return run.elapsed();
}

TEST_CASE("swarm SGD: non-blocking steps take the time of a step alone, exactly") {
    for (const int n : {1, 2, 9, 16}) {
        CAPTURE(n);
        const SwarmSgdOptions options{.local_steps = 2};
        CHECK(time_of(&swarm_sgd_non_blocking, n, options, 20, link) == 20 * (1ms + 3us));
    }
}

TEST_CASE("swarm SGD: a blocking pair takes the closed form, exactly") {
    for (const int n : {1, 2})
        for (const int steps : {6, 7}) {
            SwarmSgdOptions options{.local_steps = 3};
            if (steps == 7) options.lattice = Lattice{8, 0.1};
            StepModelInput in = on_star(n, idle_star(link), step_of_tests, small_layout());
            in.update = 3us;
            Duration expected{};
            for (int k = 0; k < steps; ++k) expected += *blocking_swarm_step_time(options, k, in);

            CHECK(time_of(&swarm_sgd_blocking, n, options, steps, link) == expected);
        }
}

TEST_CASE("swarm SGD: blocking waits at most for the peer's burst and everyone's messages") {
    for (const int n : {3, 4, 9})
        for (const int burst : {1, 4})
            for (const StepsLaw law : {StepsLaw::fixed, StepsLaw::geometric}) {
                CAPTURE(n);
                CAPTURE(burst);
                constexpr std::int64_t steps = 40;
                const SwarmSgdOptions options{.local_steps = burst, .steps_law = law};
                const Duration time = time_of(&swarm_sgd_blocking, n, options, steps, slow_link);

                const Duration letter = 832us + 200us;
                const Duration alone = steps * (1ms + 3us);
                CHECK(time >= alone + letter);
                if (law == StepsLaw::fixed)
                    CHECK(time <= 2 * alone + steps / burst * (2 * n * letter));
            }
}

TEST_CASE(
    "swarm SGD: an interaction sends a vector each way, a one-sided one the pulled vector alone") {
    const auto bytes = [](Swarm swarm, const SwarmSgdOptions& options) {
        GossipRun run(5, link, idle_job(small_layout(), 20, make_complete_mixing(5), 1), 1,
                      with(swarm, options));
        return run.sent_by_all();
    };
    const SwarmSgdOptions exact{.local_steps = 2};
    const SwarmSgdOptions coded = with_lattice(exact, {8, 0.1});

    // Except in the non-blocking form, a burst at the end of a run is followed by an exchange.
    CHECK(bytes(&swarm_sgd_non_blocking, exact) == 5 * (9 * (2 * 104_B)));
    CHECK(bytes(&swarm_sgd_non_blocking, coded) == 5 * (9 * (2 * 26_B)));
    CHECK(bytes(&swarm_sgd_one_sided, exact) == 5 * (10 * 104_B));
    CHECK(bytes(&swarm_sgd_one_sided, coded) == 5 * (10 * 26_B));
    CHECK(bytes(&swarm_sgd_blocking, exact) <= 5 * (10 * (2 * 104_B)));
}

TEST_CASE("swarm SGD: geometric bursts have the requested mean") {
    const SwarmSgdOptions options{.local_steps = 5, .steps_law = StepsLaw::geometric};
    GossipRun run(8, link, idle_job(small_layout(), 2000, make_complete_mixing(8), 3), 3,
                  with(&swarm_sgd_one_sided, options));

    const double bursts = static_cast<double>(run.sent_by_all().count) / 104;
    CHECK(std::abs(8 * 2000 / bursts - 5) < 0.4);  // five standard deviations of a mean of 3200
}

}  // namespace
}  // namespace paceline::swarm_sgd_test
