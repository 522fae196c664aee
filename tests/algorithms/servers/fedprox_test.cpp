#include "algorithms/servers/fedprox.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

#include <doctest/doctest.h>

#include "algorithms/servers/fedavg.hpp"
#include "tests/algorithms/servers/quadratics.hpp"
#include "tests/algorithms/servers/server_run.hpp"

namespace paceline::fedprox_test {
namespace {

using namespace std::chrono_literals;
using doctest::Approx;

ServerRun run_of(int n, const FedproxOptions& options, Job job) {
    return {n, server_link, std::move(job), options, &fedprox, &fedprox_server};
}

TEST_CASE("FedProx: without a pull it is FedAvg, bit for bit") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = static_cast<int>(1 + rng() % 8);
        const RoundOptions rounds{0.1 * static_cast<double>(1 + rng() % 10),
                                  static_cast<std::int64_t>(1 + rng() % 5), 0.7};
        auto pulled = run_of(n, {rounds, 0}, server_job(17));
        ServerRun averaged(n, server_link, server_job(17), rounds, &fedavg, &fedavg_server);

        CHECK(pulled.to_the_end().values() == averaged.to_the_end().values());
        CHECK(pulled.elapsed() == averaged.elapsed());
    }
}

TEST_CASE("FedProx: with one local step it is FedAvg, whatever the pull") {
    auto pulled = run_of(5, {{.local_steps = 1}, 3}, server_job(20));
    ServerRun averaged(5, server_link, server_job(20), {.local_steps = 1}, &fedavg, &fedavg_server);

    CHECK((pulled.to_the_end().values() - averaged.to_the_end().values()).norm() < 1e-12);
}

// Clients of the same curvature h go x + q (t_i - x), so the model is off the mean target by (1 -
// q)^r.
TEST_CASE("FedProx: on quadratics of one curvature a round leaves a known share of the distance") {
    for (const double mu : {0.0, 0.5, 8.0})
        for (const std::int64_t local_steps : {1, 3, 10}) {
            CAPTURE(mu);
            CAPTURE(local_steps);
            const double h = 2;
            const Quadratics clients{{h, h, h}, {-1, 2, 5}, 0.05};
            const double q =
                (1 - std::pow(1 - clients.gamma * (h + mu), static_cast<double>(local_steps))) * h /
                (h + mu);
            auto run = run_of(3, {{.local_steps = local_steps, .momentum = 0}, mu},
                              clients.job(4 * local_steps));

            CHECK(run.to_the_end().values()(0) == Approx(2 + std::pow(1 - q, 4) * (1 - 2)));
        }
}

TEST_CASE("FedProx: where shards differ it converges off the minimum, the less the more it pulls") {
    const Quadratics& clients = two_quadratics;
    double off = 1e9;
    for (const double mu : {0.0, 1.0, 3.0}) {
        CAPTURE(mu);
        auto run = run_of(2, {{.local_steps = 8, .momentum = 0}, mu}, clients.job(8 * 300));
        const double end = run.to_the_end().values()(0);

        CHECK(end == Approx(clients.fixed_point(8, mu)).epsilon(1e-12));
        CHECK(std::abs(end - clients.minimum()) < 0.95 * off);
        off = std::abs(end - clients.minimum());
    }
    CHECK(off > 0.1);
}

TEST_CASE("FedProx: a timing-only run takes the time and the bytes of one with values") {
    const FedproxOptions options{{0.34, 2}, 0.5};
    auto with_values = run_of(9, options, server_job(20));
    auto timing = run_of(9, options, timing_job(small_layout(), 20));

    CHECK(timing.to_the_end().elapsed() == with_values.to_the_end().elapsed());
    CHECK(timing.sent_by_all() == with_values.sent_by_all());
}

TEST_CASE("FedProx, property: a run can be dropped or destroyed at any time") {
    check_drops(25ms, [](std::mt19937_64& rng) {
        const FedproxOptions options{{0.5, static_cast<std::int64_t>(1 + rng() % 4)}, 0.5};
        return run_of(static_cast<int>(1 + rng() % 6), options, server_job(20));
    });
}

}  // namespace
}  // namespace paceline::fedprox_test
