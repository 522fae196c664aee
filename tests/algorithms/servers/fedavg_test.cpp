#include "algorithms/servers/fedavg.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "analysis/forms/server_step_models.hpp"
#include "sim/engine/check.hpp"
#include "tests/algorithms/servers/server_run.hpp"

namespace paceline::fedavg_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

ServerRun run_of(int n, FedavgOptions options, Job job) {
    return {n, server_link, std::move(job), options, &fedavg, &fedavg_server};
}

TEST_CASE("FedAvg: all clients and one local step are dense SGD, whatever the momentum") {
    for (const int n : {1, 2, 5, 8})
        for (const double beta : {0.0, 0.9}) {
            CAPTURE(n);
            CAPTURE(beta);
            auto averaged = run_of(n, {1, 1, beta}, server_job(25));
            TrainingRun dense(n, server_link, server_job(25));
            dense.spawn_all(
                [](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{}); });
            dense.simulation.run();

            const Eigen::VectorXd& expected = dense.cluster.worker(0).replicated_model().values();
            CHECK((averaged.to_the_end().values() - expected).cwiseAbs().maxCoeff() < 1e-12);
        }
}

// Rounds, written as loops. A worker numbers its gradients in the order in which it computes them.
Eigen::VectorXd rounds(int n, const FedavgOptions& o, std::int64_t steps,
                       const std::vector<std::vector<int>>& drawn,
                       const std::vector<double>& samples) {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    std::vector<std::int64_t> computed(static_cast<std::size_t>(n));
    for (std::int64_t first = 0, r = 0; first < steps; first += o.local_steps, ++r) {
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(26);
        double weight = 0;
        for (const int i : drawn[static_cast<std::size_t>(r)]) {
            Eigen::VectorXd own = x;
            Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
            for (std::int64_t k = first; k < std::min(first + o.local_steps, steps); ++k) {
                m = o.momentum * m +
                    pull_to_own_target(own, i, computed[static_cast<std::size_t>(i)]++);
                own -= server_rate(k) * m;
            }
            sum += samples[static_cast<std::size_t>(i)] * own;
            weight += samples[static_cast<std::size_t>(i)];
        }
        x = sum / weight;
    }
    return x;
}

TEST_CASE("FedAvg: it is rounds of local momentum SGD and a mean weighted by samples") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 8);
        const FedavgOptions options{0.1 * static_cast<double>(1 + rng() % 10),
                                    static_cast<std::int64_t>(1 + rng() % 5), 0.7};
        const auto steps = static_cast<std::int64_t>(1 + rng() % 20);  // the last round may be cut
        Job job = server_job(steps);
        job.seed = seed;
        for (int i = 0; i < n; ++i) job.samples.push_back(static_cast<double>(1 + rng() % 50));
        const std::vector<double> samples = job.samples;
        auto run = run_of(n, options, std::move(job));
        std::vector<std::vector<int>> drawn;
        for (std::int64_t round = 0; round < steps; ++round) {
            RandomStream draws = run.cluster.worker(0).common_stream("clients of a round", round);
            drawn.push_back(draw_clients(draws, n, clients_of_a_round(options.fraction, n)));
            std::ranges::sort(drawn.back());
        }

        run.to_the_end();

        const Eigen::VectorXd expected = rounds(n, options, steps, drawn, samples);
        CHECK((run.values() - expected).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("FedAvg: alone it is SGD whose momentum begins anew in each round") {
    auto run = run_of(1, {1, 5, 0.9}, server_job(20));

    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd m = Eigen::VectorXd::Zero(26);
    for (std::int64_t k = 0; k < 20; ++k) {
        if (k % 5 == 0) m.setZero();
        m = 0.9 * m + pull_to_own_target(x, 0, k);
        x -= server_rate(k) * m;
    }
    CHECK((run.to_the_end().values() - x).cwiseAbs().maxCoeff() < 1e-13);
    CHECK(run.elapsed() == 20 * 1ms + 4 * (2 * (10us + 104_B / 1_Gbps)));
}

TEST_CASE("FedAvg: a round has floor(C n) clients, one at least, whole products as on paper") {
    CHECK(clients_of_a_round(1, 7) == 7);
    CHECK(clients_of_a_round(0.5, 7) == 3);
    CHECK(clients_of_a_round(0.1, 7) == 1);
    CHECK(clients_of_a_round(0.1, 100) == 10);
    CHECK(clients_of_a_round(0.29, 100) == 29);  // as doubles, the product is slightly below 29
    CHECK(clients_of_a_round(1e-9, 1) == 1);
}

TEST_CASE("FedAvg, property: clients are distinct, and each worker is drawn as often as another") {
    RandomStream rng = RandomStreams(3).stream("test");
    std::vector<int> times(10);
    std::vector<int> first(10);
    constexpr int draws = 20'000;
    for (int i = 0; i < draws; ++i) {
        std::vector<int> clients = draw_clients(rng, 10, 3);
        REQUIRE(clients.size() == 3);
        ++first[static_cast<std::size_t>(clients.front())];
        std::ranges::sort(clients);
        REQUIRE(std::ranges::adjacent_find(clients) == clients.end());
        for (const int client : clients) ++times[static_cast<std::size_t>(client)];
    }
    // 6000 are expected, with a standard deviation of sqrt(draws 0.3 0.7) = 65; five of them
    // allowed.
    for (const int count : times) CHECK(std::abs(count - 6000) < 325);
    for (const int count : first) CHECK(std::abs(count - 2000) < 5 * 43);  // as likely the first
    CHECK_THROWS_AS(draw_clients(rng, 3, 4), LogicError);
    CHECK_THROWS_AS(draw_clients(rng, 3, 0), LogicError);
}

// With a learning rate of 1 a client's model is its own target, 2^rank. So the model after a round
// tells which clients it is the mean of.
TEST_CASE("FedAvg, property: of equal clients that are asked, each is as often among the first") {
    constexpr int n = 5;
    constexpr int rounds = 2000;
    for (const std::int64_t local_steps : {1, 3}) {
        const LayoutPtr layout = make_layout({{"x", {1}}});
        Job job = training_job(layout, rounds * local_steps);
        job.learning_rate = [](std::int64_t) { return 1.0; };
        job.objective = [](const Vector& x, int rank, std::int64_t) -> Eigen::VectorXd {
            return x.values().array() - (1 << rank);
        };
        const Cluster* cluster = nullptr;
        std::vector<int> times(n);
        job.after_steps = [&](int rank, std::int64_t k) {
            if (rank != 0 || k == 0 || k % local_steps != 0 || cluster == nullptr) return;
            const double sum = 2 * cluster->worker(0).current_model().values()(0);
            for (int i = 0; i < n; ++i)
                times[static_cast<std::size_t>(i)] += (static_cast<int>(sum) >> i) & 1;
        };
        auto run = run_of(n, {0.4, local_steps, 0, 2.5}, std::move(job));
        cluster = &run.cluster;
        run.to_the_end();

        // 2/5 of 2000 are expected, with a standard deviation of 22; five of them allowed.
        for (const int count : times) CHECK(std::abs(count - 800) < 110);
    }
}

double model_of(const FedavgOptions& options, const StepModelInput& in, std::int64_t steps) {
    double sum = 0;
    for (std::int64_t k = 0; k < steps; ++k)
        sum += to_seconds(client_round_step_time(options, 1, in, k).value());
    return sum;
}

TEST_CASE("FedAvg: a round takes E steps and two trips of |S| models over the server's link") {
    for (const int n : {1, 2, 3, 8, 20})
        for (const double fraction : {0.01, 0.3, 1.0})
            for (const std::int64_t local : {1, 4}) {
                CAPTURE(n);
                CAPTURE(fraction);
                CAPTURE(local);
                const FedavgOptions options{fraction, local};
                const LayoutPtr layout = make_layout({{"all", {2'500, 1}}});
                Job job = timing_job(layout, 3 * local + 1);  // the last round is cut short
                job.update = 70us;
                StepModelInput in = on_star(n, idle_star(server_link), step_of_tests, layout);
                in.update = 70us;
                auto run = run_of(n, options, std::move(job));
                run.to_the_end();
                const int clients = clients_of_a_round(fraction, n);
                const double round =
                    2 * (10e-6 + clients * 80e-6) + static_cast<double>(local) * 1.07e-3;
                const double last = 2 * (10e-6 + clients * 80e-6) + 1.07e-3;

                CHECK(to_seconds(run.elapsed()) == doctest::Approx(3 * round + last).epsilon(1e-9));
                CHECK(to_seconds(run.elapsed()) ==
                      doctest::Approx(model_of(options, in, 3 * local + 1)).epsilon(1e-9));
            }
}

// A fuzzed fault: the server queued up a model for each client in each round.
TEST_CASE("FedAvg: rounds that are shorter than a transfer do not pile up models") {
    for (const Duration most : {10ms, 100ms}) {
        CAPTURE(most);
        const LayoutPtr layout = make_layout({{"all", {2'500, 1}}});  // 80 us on the link
        auto run = run_of(3, {.deadline = 20us}, timing_job(layout, 1'000'000));
        run.simulation.run(Time{most});

        CHECK(run.cluster.held().letters <= 6);
        CHECK(run.network.messages() <= 6);
    }
}

TEST_CASE("FedAvg: a worker that is not drawn sends and computes nothing, and counts the steps") {
    std::map<int, std::int64_t> last_step;
    Job job = timing_job(small_layout(), 12);
    job.after_steps = [&](int rank, std::int64_t k) {
        CHECK(last_step[rank] <= k);
        last_step[rank] = k;
    };
    auto run = run_of(10, {0.2, 4}, std::move(job));
    run.to_the_end();

    std::int64_t gradients = 0;
    for (int rank = 0; rank < 10; ++rank) {
        const std::int64_t own = run.cluster.state(rank).gradients;
        gradients += own;
        CHECK(last_step[rank] == 12);
        CHECK(own % 4 == 0);
        CHECK(run.network.traffic(rank).sent == own / 4 * 104_B);
        CHECK(run.network.traffic(rank).received == own / 4 * 104_B);
    }
    CHECK(gradients == 3 * 2 * 4);
    CHECK(run.network.traffic(10).sent == 6 * 104_B);
}

TEST_CASE("FedAvg: every worker sees the model change only at the end of a round") {
    std::map<std::int64_t, double> seen;  // keyed by steps taken
    Job job = server_job(9);
    Cluster* cluster = nullptr;
    job.after_steps = [&](int rank, std::int64_t k) {
        const double now = cluster->worker(rank).current_model().values()(0);
        CHECK(seen.try_emplace(k, now).first->second == now);
    };
    auto run = run_of(6, {0.5, 3}, std::move(job));
    cluster = &run.cluster;
    run.to_the_end();

    CHECK(seen.at(1) == 1.0);
    CHECK(seen.at(2) == 1.0);
    CHECK(seen.at(3) != 1.0);
    CHECK(seen.at(4) == seen.at(3));
    CHECK(seen.at(5) == seen.at(3));
    CHECK(seen.at(6) != seen.at(3));
    CHECK(seen.at(9) != seen.at(6));
}

TEST_CASE("FedAvg: two runs are bit-equal, another seed draws others, timing needs no values") {
    const auto of_seed = [](std::uint64_t seed) {
        Job job = server_job(20);
        job.seed = seed;
        return run_of(9, {0.34, 2}, std::move(job));
    };
    auto one = of_seed(1);
    auto other = of_seed(1);
    auto third = of_seed(2);
    auto timing = run_of(9, {0.34, 2}, timing_job(small_layout(), 20));

    CHECK(one.to_the_end().values() == other.to_the_end().values());
    CHECK(one.values() != third.to_the_end().values());
    CHECK(timing.to_the_end().elapsed() == one.elapsed());
    CHECK(timing.sent_by_all() == one.sent_by_all());
}

TEST_CASE("FedAvg, property: a run can be dropped or destroyed at any time") {
    check_drops(25ms, [](std::mt19937_64& rng) {
        const FedavgOptions options{0.5, static_cast<std::int64_t>(1 + rng() % 4)};
        return run_of(static_cast<int>(1 + rng() % 6), options, server_job(20));
    });
}

}  // namespace
}  // namespace paceline::fedavg_test
