#include "algorithms/servers/stale_synchronous_sgd.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/servers/async_sgd.hpp"
#include "analysis/forms/server_step_models.hpp"
#include "tests/algorithms/servers/server_run.hpp"

namespace paceline::stale_synchronous_sgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

ServerRun run_of(int n, StaleSynchronousSgdOptions options, Job job) {
    return {n,
            server_link,
            std::move(job),
            options,
            &stale_synchronous_sgd,
            &stale_synchronous_sgd_server};
}

// Worker links between 100 kbit/s and 1 Gbit/s: a model takes up to 8 steps.
void make_unequal(ServerRun& run, std::mt19937_64& rng) {
    for (int rank = 0; rank < run.cluster.workers(); ++rank)
        run.set_link(rank,
                     Bandwidth{static_cast<std::int64_t>(
                         100'000 * std::pow(10, 4.0 * static_cast<double>(rng() % 100) / 99))});
}

TEST_CASE("stale-synchronous SGD: with bound 0 it is dense momentum SGD, on any links") {
    for (unsigned seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 7);
        const double beta = seed % 2 == 0 ? 0.9 : 0;
        auto stale = run_of(n, {0, beta}, server_job(25));
        make_unequal(stale, rng);
        TrainingRun dense(n, server_link, server_job(25));
        dense.spawn_all([=](Worker& self) {
            return synchronous_sgd(self,
                                   SynchronousSgdOptions{dense_exchange(AllReduce::ring), {beta}});
        });
        dense.simulation.run();

        const Eigen::VectorXd& expected = dense.cluster.worker(0).replicated_model().values();
        CHECK((stale.to_the_end().values() - expected).cwiseAbs().maxCoeff() < 1e-10);
    }
}

TEST_CASE("stale-synchronous SGD: with a bound that nobody reaches it is asynchronous SGD") {
    for (unsigned seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 7);
        auto stale = run_of(n, {1000, 0.9}, server_job(25));
        ServerRun async(n, server_link, server_job(25), AsyncSgdOptions{0.9}, &async_sgd,
                        &async_sgd_server);
        std::mt19937_64 same = rng;
        make_unequal(stale, rng);
        make_unequal(async, same);

        CHECK(stale.to_the_end().values() == async.to_the_end().values());
        CHECK(stale.elapsed() == async.elapsed());
    }
}

// Gradients are the workers' unit vectors, so that x counts how many steps of each worker it
// contains.
struct Counting {
    std::atomic<int> too_old = 0;
    std::atomic<int> at_the_bound = 0;
    std::atomic<int> own_missing = 0;

    Job job(int n, std::int64_t bound, std::int64_t steps) {
        Job job = training_job(make_layout({{"counts", {n}}}), steps);
        job.learning_rate = [n](std::int64_t) { return n; };
        job.objective = [this, bound](const Vector& x, int rank, std::int64_t k) {
            const Eigen::ArrayXd counts = 1 - x.values().array();
            const auto least = static_cast<std::int64_t>(std::lround(counts.minCoeff()));
            if (least < k - bound) ++too_old;
            if (least == k - bound) ++at_the_bound;
            if (std::lround(counts(rank)) != k) ++own_missing;
            return Eigen::VectorXd::Unit(x.entries(), rank);
        };
        return job;
    }
};

TEST_CASE("stale-synchronous SGD, property: what a step reads holds all but s steps of everybody") {
    int tight = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(2 + rng() % 6);
        const auto bound = static_cast<std::int64_t>(rng() % 5);
        Counting counting;
        auto run = run_of(n, {bound, 0}, counting.job(n, bound, 40));
        make_unequal(run, rng);

        run.to_the_end();

        CHECK(counting.too_old == 0);
        tight += counting.at_the_bound > 0 ? 1 : 0;
        CHECK(counting.own_missing == 0);
        CHECK((run.values().array() + 39).abs().maxCoeff() < 1e-9);  // 40 of each
    }
    CHECK(tight > 30);
}

TEST_CASE("stale-synchronous SGD: nobody begins a step more than s ahead of the slowest") {
    for (const std::int64_t bound : {0, 1, 4}) {
        CAPTURE(bound);
        std::int64_t most_ahead = 0;
        std::vector<std::int64_t> begun(4);
        Job job = timing_job(small_layout(), 60);
        job.after_steps = [&](int rank, std::int64_t k) {
            begun[static_cast<std::size_t>(rank)] = k;
            most_ahead = std::max(most_ahead, k - *std::ranges::min_element(begun));
        };
        auto run = run_of(4, {bound, 0}, std::move(job));
        run.set_link(1, Bandwidth{200'000});

        run.to_the_end();

        CHECK(most_ahead >= bound);
        CHECK(most_ahead <= bound + 1);  // the slowest may not have received its answer yet
    }
}

TEST_CASE("stale-synchronous SGD: a larger bound is never slower if a link stalls briefly") {
    const auto elapsed = [](std::int64_t bound) {
        auto run = run_of(4, {bound, 0}, timing_job(small_layout(), 60));
        for (int i = 0; i < 3; ++i) {
            const Duration begin = 10ms + i * 15ms;
            run.simulation.run(Time{begin});
            run.set_link(i, Bandwidth{100'000});  // a model takes 8.3 ms
            run.simulation.run(Time{begin + 9ms});
            run.set_link(i, 1_Gbps);
        }
        return run.to_the_end().elapsed();
    };
    const Duration synchronous = elapsed(0);
    const Duration loose = elapsed(8);

    CHECK(elapsed(2) <= synchronous);
    CHECK(loose <= elapsed(2));
    CHECK(loose < synchronous - 5ms);
}

TEST_CASE("stale-synchronous SGD: K steps take what the step model says, for any bound") {
    for (const int n : {1, 2, 3, 4, 8, 16, 33})
        for (const std::int64_t entries : {26, 2'500, 25'000})
            for (const std::int64_t bound : {0, 1, 3}) {
                CAPTURE(n);
                CAPTURE(entries);
                CAPTURE(bound);
                check_step_model(
                    n, entries,
                    [=](int nodes, Job job) { return run_of(nodes, {bound}, std::move(job)); },
                    [=](std::int64_t k, const StepModelInput& in) {
                        return stale_synchronous_sgd_step_time({bound}, in, k).value();
                    });
            }
}

TEST_CASE("stale-synchronous SGD: each step sends a model up and brings one down") {
    auto run = run_of(5, {2}, timing_job(small_layout(), 7));

    run.to_the_end();

    for (int rank = 0; rank < 5; ++rank) {
        CHECK(run.network.traffic(rank).sent == 7 * 104_B);
        CHECK(run.network.traffic(rank).received == 7 * 104_B);
    }
}

TEST_CASE("stale-synchronous SGD: two runs are bit-equal, and without values take the same time") {
    std::mt19937_64 rng(11);
    auto one = run_of(6, {2}, server_job(20));
    auto other = run_of(6, {2}, server_job(20));
    auto timing = run_of(6, {2}, timing_job(small_layout(), 20));
    for (ServerRun* run : {&one, &other, &timing}) {
        std::mt19937_64 same = rng;
        make_unequal(*run, same);
    }

    CHECK(one.to_the_end().values() == other.to_the_end().values());
    CHECK(one.elapsed() == other.elapsed());
    CHECK(timing.to_the_end().elapsed() == one.elapsed());
}

TEST_CASE("stale-synchronous SGD, property: a run can be dropped or destroyed at any time") {
    check_drops(
        40ms,
        [](std::mt19937_64& rng) {
            return run_of(static_cast<int>(1 + rng() % 6), {1}, server_job(20));
        },
        &make_unequal);
}

}  // namespace
}  // namespace paceline::stale_synchronous_sgd_test
