#include "sim/collectives/parameter_server.hpp"

#include <chrono>
#include <numeric>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "sim/engine/check.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::parameter_server_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 25us};

// A picosecond per change of a shared rate is lost to rounding.
constexpr double rounding = 1e-9;

double seconds_with_own_servers(int workers, int servers, Bytes size) {
    StarRun run(workers, make_star(workers + servers, link, link));
    run.spawn_all(
        [&](Rank self) { return parameter_server_all_reduce(self, size, servers, workers); });
    run.simulation.run();
    return to_seconds(run.last_end());
}

TEST_CASE("parameter server: on machines of its own it takes 2 (L + n S/q / B)") {
    for (const int n : {1, 2, 3, 5, 8, 13, 16, 32})
        for (int q = 1; q <= std::min(n, 8); ++q) {
            CAPTURE(n);
            CAPTURE(q);
            const double textbook = 2 * (50e-6 + 840'000.0 / q * n * 8e-9);
            REQUIRE(seconds_with_own_servers(n, q, 840'000_B) ==
                    doctest::Approx(textbook).epsilon(rounding));
            REQUIRE(to_seconds(
                        parameter_server_all_reduce_time(n, 840'000_B, q, false, {1_Gbps, 50us})) ==
                    doctest::Approx(textbook).epsilon(rounding));
        }
}

TEST_CASE("parameter server: on the workers' machines it takes 2 (L + (n-1) S/q / B)") {
    for (const int n : {1, 2, 3, 5, 8, 13, 16, 32})
        for (int q = 1; q <= std::min(n, 8); ++q) {
            CAPTURE(n);
            CAPTURE(q);
            const Duration simulated = time_on_star(n, link, [&](Rank self) {
                return parameter_server_all_reduce(self, 840'000_B, q);
            });
            const double textbook = n == 1 ? 0 : 2 * (50e-6 + 840'000.0 / q * (n - 1) * 8e-9);
            REQUIRE(to_seconds(simulated) ==
                    doctest::Approx(textbook).epsilon(rounding).scale(1e-3));
            REQUIRE(to_seconds(
                        parameter_server_all_reduce_time(n, 840'000_B, q, true, {1_Gbps, 50us})) ==
                    doctest::Approx(textbook).epsilon(rounding).scale(1e-3));
        }
}

TEST_CASE("parameter server: one on each worker moves a ring's bytes in two latencies") {
    for (int n = 2; n <= 16; ++n) {
        CAPTURE(n);
        StarRun run(n, link);
        run.spawn_all([n](Rank self) { return parameter_server_all_reduce(self, n * 1000_B, n); });
        run.simulation.run();

        for (int place = 0; place < n; ++place)
            REQUIRE(run.network.traffic(place).sent == 2 * (n - 1) * 1000_B);
        REQUIRE(to_seconds(run.last_end()) ==
                doctest::Approx(2 * (50e-6 + (n - 1) * 8e-6)).epsilon(1e-8));
    }
}

TEST_CASE("parameter server: nobody has the sum before the last worker has pushed") {
    StarRun run(4, link);
    for (int place = 0; place < 4; ++place)
        run.spawn(place, parameter_server_all_reduce(run.rank(place), 1000_B, 2),
                  place == 3 ? 1s : 0s);
    run.simulation.run();

    for (const Duration end : run.ended) CHECK(end > 1s);
}

TEST_CASE("parameter server: rounds one after the other do not mix") {
    const auto twice = [](Rank self) -> Task<> {
        co_await parameter_server_all_reduce(self, 3000_B, 3);
        co_await parameter_server_all_reduce(self, 3000_B, 3);
    };
    StarRun run(5, link);
    run.spawn_all(twice);
    run.simulation.run();

    CHECK(run.processes.finished());
    CHECK(to_seconds(run.last_end()) == doctest::Approx(2 * 2 * (50e-6 + 4 * 8e-6)).epsilon(1e-8));
}

TEST_CASE("parameter server: there is at least one, and more servers than workers change nothing") {
    const auto time_with = [](int servers) {
        return time_on_star(3, link, [servers](Rank self) {
            return parameter_server_all_reduce(self, 1000_B, servers);
        });
    };
    CHECK(time_with(4) == time_with(3));
    CHECK(time_with(3) != time_with(2));
    CHECK_THROWS_AS(time_with(0), LogicError);
}

}  // namespace
}  // namespace paceline::parameter_server_test
