#include "algorithms/servers/scaffold.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "algorithms/compression/half.hpp"
#include "algorithms/compression/natural.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/servers/fedavg.hpp"
#include "analysis/forms/server_step_models.hpp"
#include "tests/algorithms/servers/quadratics.hpp"
#include "tests/algorithms/servers/server_run.hpp"

namespace paceline::scaffold_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

ServerRun run_of(int n, const ScaffoldOptions& options, Job job) {
    return {n, server_link, std::move(job), options, &scaffold, &scaffold_server};
}

TEST_CASE("SCAFFOLD: one client is plain SGD, whatever the momentum") {
    for (const std::int64_t local_steps : {1, 5, 7}) {
        CAPTURE(local_steps);
        auto run = run_of(1, {{.local_steps = local_steps}}, server_job(20));

        Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
        for (std::int64_t k = 0; k < 20; ++k) x -= server_rate(k) * pull_to_own_target(x, 0, k);
        CHECK((run.to_the_end().values() - x).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("SCAFFOLD: all clients and one local step are dense SGD, since corrections cancel") {
    for (const int n : {2, 5, 8}) {
        CAPTURE(n);
        auto run = run_of(n, {}, server_job(25));
        TrainingRun dense(n, server_link, server_job(25));
        dense.spawn_all(
            [](Worker& self) { return synchronous_sgd(self, SynchronousSgdOptions{}); });
        dense.simulation.run();

        const Eigen::VectorXd& expected = dense.cluster.worker(0).replicated_model().values();
        CHECK((run.to_the_end().values() - expected).cwiseAbs().maxCoeff() < 1e-12);
    }
}

// Algorithm 1 with option II, written as loops.
struct Rounds {
    int n;
    ScaffoldOptions options;
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    Eigen::VectorXd c = Eigen::VectorXd::Zero(26);
    Eigen::MatrixXd c_i = Eigen::MatrixXd::Zero(26, n);
    std::vector<std::int64_t> computed = std::vector<std::int64_t>(static_cast<std::size_t>(n));

    void run(const std::vector<int>& drawn, std::int64_t first, std::int64_t last) {
        Eigen::VectorXd dx = Eigen::VectorXd::Zero(26);
        Eigen::VectorXd dc = dx;
        for (const int i : drawn) {
            Eigen::VectorXd y = x;
            double rates = 0;
            for (std::int64_t k = first; k < last; ++k) {
                const Eigen::VectorXd g =
                    pull_to_own_target(y, i, computed[static_cast<std::size_t>(i)]++);
                y -= server_rate(k) * (g - c_i.col(i) + c);
                rates += server_rate(k);
            }
            const Eigen::VectorXd renewed = c_i.col(i) - c + (x - y) / rates;
            dx += y - x;
            dc += renewed - c_i.col(i);
            c_i.col(i) = renewed;
        }
        x += options.server_learning_rate / static_cast<double>(drawn.size()) * dx;
        c += dc / n;
    }
};

TEST_CASE("SCAFFOLD: it is the paper's rounds, with drawn clients and a last round cut short") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 8);
        const auto local_steps = static_cast<std::int64_t>(1 + rng() % 5);
        const ScaffoldOptions options{{0.1 * static_cast<double>(1 + rng() % 10), local_steps},
                                      0.5 + 0.1 * static_cast<double>(rng() % 8)};
        const auto steps = static_cast<std::int64_t>(1 + rng() % 30);
        Job job = server_job(steps);
        job.seed = seed;
        job.samples.assign(static_cast<std::size_t>(n), 1);
        job.samples.back() = 9;  // does not matter
        auto run = run_of(n, options, std::move(job));
        Rounds expected{n, options};
        for (std::int64_t first = 0; first < steps; first += local_steps) {
            RandomStream draws =
                run.cluster.worker(0).common_stream("clients of a round", first / local_steps);
            std::vector<int> drawn =
                draw_clients(draws, n, clients_of_a_round(options.rounds.fraction, n));
            std::ranges::sort(drawn);
            expected.run(drawn, first, std::min(first + local_steps, steps));
        }

        CHECK((run.to_the_end().values() - expected.x).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("SCAFFOLD: where shards differ it reaches the minimum, which FedAvg's drift misses") {
    const Quadratics& clients = two_quadratics;
    for (const std::int64_t local_steps : {2, 8}) {
        CAPTURE(local_steps);
        const RoundOptions rounds{.local_steps = local_steps, .momentum = 0};
        auto corrected = run_of(2, {rounds}, clients.job(400 * local_steps));
        ServerRun averaged(2, server_link, clients.job(400 * local_steps), rounds, &fedavg,
                           &fedavg_server);

        CHECK(corrected.to_the_end().values()(0) == Approx(clients.minimum()).epsilon(1e-10));
        CHECK(averaged.to_the_end().values()(0) ==
              Approx(clients.fixed_point(local_steps, 0)).epsilon(1e-10));
        CHECK(std::abs(clients.fixed_point(local_steps, 0) - clients.minimum()) > 0.1);
    }
}

double control(ServerRun& run, int client) {
    return run.cluster.worker(0)
        .replicated(fmt::format("control variate of client {}", client))
        .values()(0);
}

// The minimum is that of all clients, while the mean of a round's clients differs from round to
// round. A client that is too late must not renew its variate, or c would be off the mean of all
// for ever.
TEST_CASE("SCAFFOLD: with drawn and late clients it reaches the minimum, and c is their mean") {
    const Quadratics clients{{1, 4, 2, 1, 3}, {-1, 3, 2, 0, 5}, 0.05};
    for (const double over_selection : {1.0, 1.7}) {
        CAPTURE(over_selection);
        Job job = clients.job(3 * 4000);
        job.compute_time = [](int rank, std::int64_t k, Time, Duration nominal) {
            return nominal + Duration{1 + (37 * rank + 11 * k) % 1000};  // anyone may be late
        };
        auto run =
            run_of(5, {{.fraction = 0.6, .local_steps = 3, .over_selection = over_selection}},
                   std::move(job));
        CHECK(run.to_the_end().values()(0) == Approx(clients.minimum()).epsilon(1e-9));

        double sum = 0;
        for (int i = 0; i < 5; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double slope = clients.curvature[at] * (clients.minimum() - clients.target[at]);
            CHECK(control(run, i) == Approx(slope).epsilon(1e-8));
            sum += control(run, i);
        }
        CHECK(std::abs(run.cluster.worker(0).replicated("control variate").values()(0) - sum / 5) <
              1e-9);
    }
}

// -G ((x - y) / G - c + c) = y - x: a compressor that loses nothing changes nothing but bytes.
TEST_CASE("SCALLION: with a compressor that keeps everything it is SCAFFOLD") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 6);
        ScaffoldOptions options{
            {0.1 * static_cast<double>(1 + rng() % 10), static_cast<std::int64_t>(1 + rng() % 5)},
            0.5 + 0.1 * static_cast<double>(rng() % 8)};
        auto plain = run_of(n, options, server_job(20));
        options.rounds.compressor = make_top_k(1);
        auto coded = run_of(n, options, server_job(20));

        CHECK((plain.to_the_end().values() - coded.to_the_end().values()).cwiseAbs().maxCoeff() <
              1e-12);
    }
}

// At the minimum each d_i is 0, so what a coarse compressor leaves out is sent sooner or later.
TEST_CASE("SCALLION: it reaches the minimum that FedAvg misses, with lossy messages") {
    const Quadratics clients{{1, 4, 2, 1, 3}, {-1, 3, 2, 0, 5}, 0.05};
    for (const double scaling : {0.2, 1.0}) {
        CAPTURE(scaling);
        ScaffoldOptions options{.rounds = {.fraction = 0.6, .local_steps = 3}, .scaling = scaling};
        options.rounds.compressor = make_natural();
        auto run = run_of(5, options, clients.job(3 * 6000));

        CHECK(run.to_the_end().values()(0) == Approx(clients.minimum()).epsilon(1e-8));
    }
}

TEST_CASE("SCALLION: a client receives two models in a round and sends what is left of one") {
    const LayoutPtr layout = make_layout({{"all", {2'500, 1}}});
    for (const int n : {1, 4}) {
        ScaffoldOptions options{.rounds = {.local_steps = 2}};
        options.rounds.compressor = make_half();
        auto run = run_of(n, options, timing_job(layout, 6));
        run.to_the_end();
        const StepModelInput in = on_star(n, idle_star(server_link), step_of_tests, layout);
        double form = 0;
        for (std::int64_t k = 0; k < 6; ++k)
            form += to_seconds(client_round_step_time(options.rounds, 2, in, k).value());

        CHECK(form == Approx(to_seconds(run.elapsed())).epsilon(1e-9));
        CHECK(run.sent_by_all() == 3 * n * 5'000_B);
        CHECK(run.network.traffic(n).sent == 3 * n * 20'000_B);
    }
}

TEST_CASE("SCAFFOLD: a round at learning rate 0 changes nothing") {
    Job job = server_job(12);
    job.learning_rate = [](std::int64_t k) { return k < 6 ? 0.1 : 0.0; };
    auto whole = run_of(3, {{.local_steps = 3}}, std::move(job));
    Job shorter = server_job(6);
    shorter.learning_rate = [](std::int64_t) { return 0.1; };
    auto half = run_of(3, {{.local_steps = 3}}, std::move(shorter));

    CHECK(whole.to_the_end().values() == half.to_the_end().values());
    CHECK(control(whole, 1) == control(half, 1));
}

TEST_CASE("SCAFFOLD: a client sends and receives two models in a round") {
    for (const int n : {1, 3, 8})
        for (const double fraction : {0.3, 1.0})
            for (const std::int64_t local : {1, 4}) {
                CAPTURE(n);
                CAPTURE(fraction);
                CAPTURE(local);
                const ScaffoldOptions options{{fraction, local}};
                const LayoutPtr layout = make_layout({{"all", {2'500, 1}}});
                Job job = timing_job(layout, 3 * local);
                job.update = 70us;
                StepModelInput in = on_star(n, idle_star(server_link), step_of_tests, layout);
                in.update = 70us;
                auto run = run_of(n, options, std::move(job));
                run.to_the_end();
                const int clients = clients_of_a_round(fraction, n);
                const double round =
                    2 * (10e-6 + clients * 160e-6) + static_cast<double>(local) * 1.07e-3;
                double form = 0;
                for (std::int64_t k = 0; k < 3 * local; ++k)
                    form += to_seconds(client_round_step_time(options.rounds, 2, in, k).value());

                CHECK(to_seconds(run.elapsed()) == Approx(3 * round).epsilon(1e-9));
                CHECK(form == Approx(3 * round).epsilon(1e-9));
                CHECK(run.sent_by_all() == 3 * clients * 20'000_B);
                CHECK(run.network.traffic(n).sent == 3 * clients * 20'000_B);
            }
}

TEST_CASE("SCAFFOLD: two runs are bit-equal, timing needs no values") {
    const ScaffoldOptions options{{0.34, 2}};
    auto one = run_of(9, options, server_job(20));
    auto other = run_of(9, options, server_job(20));
    auto timing = run_of(9, options, timing_job(small_layout(), 20));

    CHECK(one.to_the_end().values() == other.to_the_end().values());
    CHECK(timing.to_the_end().elapsed() == one.elapsed());
    CHECK(timing.sent_by_all() == one.sent_by_all());
}

TEST_CASE("SCAFFOLD, property: a run can be dropped or destroyed at any time") {
    check_drops(25ms, [](std::mt19937_64& rng) {
        const ScaffoldOptions options{{0.5, static_cast<std::int64_t>(1 + rng() % 4)}};
        return run_of(static_cast<int>(1 + rng() % 6), options, server_job(20));
    });
}

}  // namespace
}  // namespace paceline::scaffold_test
