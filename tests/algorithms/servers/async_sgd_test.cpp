#include "algorithms/servers/async_sgd.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/server_step_models.hpp"
#include "tests/algorithms/servers/server_run.hpp"

namespace paceline::async_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

ServerRun run_of(int n, AsyncSgdOptions options, Job job) {
    return {n, server_link, std::move(job), options, &async_sgd, &async_sgd_server};
}

TEST_CASE("asynchronous SGD: with one worker it is momentum SGD") {
    for (const double beta : {0.0, 0.9})
        for (const bool scaling : {false, true}) {
            CAPTURE(beta);
            CAPTURE(scaling);
            auto run = run_of(1, {beta, scaling}, server_job(30));

            Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
            Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
            for (std::int64_t k = 0; k < 30; ++k) {
                m = beta * m + pull_to_own_target(x, 0, k);
                x -= server_rate(k) * m;
            }
            CHECK((run.to_the_end().values() - x).cwiseAbs().maxCoeff() < 1e-12);
        }
}

// The server takes the pushes of equal workers in turn; here as a loop.
Eigen::VectorXd round_robin(int n, double beta, bool scaling, std::int64_t steps) {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::MatrixXd read = Eigen::MatrixXd::Ones(26, n);
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(26, n);
    for (std::int64_t k = 0; k < steps; ++k)
        for (int i = 0; i < n; ++i) {
            const int staleness = k == 0 ? i : n - 1;
            m.col(i) = beta * m.col(i) + pull_to_own_target(read.col(i), i, k);
            x -= server_rate(k) / n * m.col(i) / (scaling ? 1 + staleness : 1);
            read.col(i) = x;
        }
    return x;
}

TEST_CASE("asynchronous SGD: equal workers on an idle star take turns, n-1 pushes stale") {
    for (const int n : {2, 3, 5, 8})
        for (const bool scaling : {false, true}) {
            CAPTURE(n);
            CAPTURE(scaling);
            auto run = run_of(n, {0.5, scaling}, server_job(20));

            CHECK((run.to_the_end().values() - round_robin(n, 0.5, scaling, 20))
                      .cwiseAbs()
                      .maxCoeff() < 1e-12);
        }
}

TEST_CASE("asynchronous SGD: scaled pushes tell the staleness: n-1 from the second step on") {
    for (const int n : {2, 4, 9}) {
        CAPTURE(n);
        Job job = training_job(small_layout(), 11);
        job.objective = [](const Vector& x, int, std::int64_t) {
            return Eigen::VectorXd::Ones(x.entries());
        };
        job.learning_rate = [](std::int64_t) { return 0.25; };
        auto run = run_of(n, {0, true}, std::move(job));
        double pushes = 10;  // n pushes per step, each scaled by 1/n
        for (int i = 0; i < n; ++i) pushes += 1.0 / (1 + i);

        CHECK(run.to_the_end().values()(0) ==
              doctest::Approx(1 - 0.25 / n * pushes).epsilon(1e-12));
    }
}

TEST_CASE("asynchronous SGD: K steps take what the step model says, latency-bound and full") {
    for (const int n : {1, 2, 3, 4, 8, 16, 33})
        for (const std::int64_t entries : {26, 2'500, 25'000}) {  // 0.8 us, 80 us, 0.8 ms per model
            CAPTURE(n);
            CAPTURE(entries);
            check_step_model(
                n, entries, [](int nodes, Job job) { return run_of(nodes, {}, std::move(job)); },
                [](std::int64_t k, const StepModelInput& in) {
                    return async_sgd_step_time(in, k).value();
                });
        }
}

TEST_CASE("asynchronous SGD: each step sends a model up and brings one down") {
    Job job = timing_job(small_layout(), 7);
    job.wire = fp16;
    auto run = run_of(5, {}, std::move(job));

    run.to_the_end();

    for (int rank = 0; rank < 5; ++rank) {
        CHECK(run.network.traffic(rank).sent == 7 * 52_B);
        CHECK(run.network.traffic(rank).received == 7 * 52_B);
    }
    CHECK(run.network.traffic(5).sent == 35 * 52_B);
}

TEST_CASE("asynchronous SGD: a worker on a slow link does not hold the others") {
    auto run = run_of(4, {}, timing_job(small_layout(), 50));
    run.set_link(2, Bandwidth{100'000});  // 104 bytes take 8.3 ms

    run.simulation.run(Time{100ms});

    CHECK(run.cluster.state(2).gradients < 10);
    for (const int rank : {0, 1, 3}) CHECK(run.cluster.state(rank).gradients == 50);
}

TEST_CASE("asynchronous SGD: two runs are bit-equal, and without values take the same time") {
    for (const int slow : {0, 3}) {
        auto one = run_of(6, {}, server_job(20));
        auto other = run_of(6, {}, server_job(20));
        auto timing = run_of(6, {}, timing_job(small_layout(), 20));
        for (ServerRun* run : {&one, &other, &timing}) run->set_link(slow, Bandwidth{300'000});

        CHECK(one.to_the_end().values() == other.to_the_end().values());
        CHECK(one.elapsed() == other.elapsed());
        CHECK(timing.to_the_end().elapsed() == one.elapsed());
        CHECK(timing.sent_by_all() == one.sent_by_all());
    }
}

TEST_CASE("asynchronous SGD: as a stand-in it costs what the other net weighs") {
    const LayoutPtr charged = make_layout({{"all", {5'000, 10}}});
    Job job = server_job(9);
    job.charged = charged;
    auto run = run_of(4, {}, std::move(job));
    auto other = run_of(4, {}, timing_job(charged, 9));

    CHECK(run.to_the_end().elapsed() == other.to_the_end().elapsed());
    CHECK(run.sent_by_all() == 4 * (9 * 200'000_B));
}

TEST_CASE("asynchronous SGD, property: a run can be dropped or destroyed at any time") {
    check_drops(25ms, [](std::mt19937_64& rng) {
        return run_of(static_cast<int>(1 + rng() % 6), {}, server_job(20));
    });
}

}  // namespace
}  // namespace paceline::async_sgd_test
