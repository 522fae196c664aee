#include "sim/collectives/servers.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::servers_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 25us};
constexpr double per_byte = 8e-9;

// A picosecond per change of a shared rate is lost to rounding.
constexpr double rounding = 1e-9;

struct Shards {
    std::vector<Bytes> up;
    std::vector<Bytes> down;
    Duration work{};
    std::vector<std::pair<int, Duration>> began{};  // shard, when its server began to work

    [[nodiscard]] auto member(StarRun& run, std::optional<int> first_node) {
        const auto of = [](const std::vector<Bytes>& shards) {
            return [&shards](int shard) { return shards[static_cast<std::size_t>(shard)]; };
        };
        return [this, &run, first_node, of](const Rank& self) {
            return server_exchange(self, {static_cast<int>(up.size()), first_node}, of(up),
                                   of(down), [this, &run](int shard) { return serve(run, shard); });
        };
    }
    Task<> serve(StarRun& run, int shard) {
        began.emplace_back(shard, run.simulation.now().time_since_epoch());
        co_await run.simulation.sleep(work);
    }
};

Shards equal_shards(int servers, Bytes up, Bytes down, Duration work) {
    const auto q = static_cast<std::size_t>(servers);
    return {std::vector<Bytes>(q, up), std::vector<Bytes>(q, down), work};
}

TEST_CASE("servers: on machines of their own they take L + t(n U) + W + L + t(n D)") {
    for (const int n : {1, 2, 3, 5, 8, 13, 32})
        for (int q = 1; q <= std::min(n, 8); ++q) {
            CAPTURE(n);
            CAPTURE(q);
            Shards shards = equal_shards(q, 10'000_B, 70'000_B, 3ms);
            StarRun run(n, make_star(n + q, link, link));
            run.spawn_all(shards.member(run, n));
            run.simulation.run();

            const double form = 2 * 50e-6 + n * 80'000 * per_byte + 3e-3;
            REQUIRE(to_seconds(run.last_end()) == doctest::Approx(form).epsilon(rounding));
        }
}

TEST_CASE("servers: on the workers they take L + t((n-1) U) + W + L + t((n-1) D)") {
    for (const int n : {1, 2, 3, 5, 8, 13, 32})
        for (int q = 1; q <= n; ++q) {
            CAPTURE(n);
            CAPTURE(q);
            Shards shards = equal_shards(q, 10'000_B, 70'000_B, 3ms);
            StarRun run(n, link);
            run.spawn_all(shards.member(run, std::nullopt));
            run.simulation.run();

            const double messages = n == 1 ? 0 : 2 * 50e-6 + (n - 1) * 80'000 * per_byte;
            REQUIRE(to_seconds(run.last_end()) ==
                    doctest::Approx(messages + 3e-3).epsilon(rounding));
        }
}

TEST_CASE("servers: one heavy shard decides, whoever has it") {
    for (std::size_t heavy = 0; heavy < 4; ++heavy) {
        CAPTURE(heavy);
        Shards shards = equal_shards(4, 0_B, 0_B, 0s);
        shards.up[heavy] = 50'000_B;
        shards.down[heavy] = 20'000_B;
        StarRun run(6, link);
        run.spawn_all(shards.member(run, std::nullopt));
        run.simulation.run();

        CHECK(to_seconds(run.last_end()) ==
              doctest::Approx(2 * 50e-6 + 5 * 70'000 * per_byte).epsilon(rounding));
    }
}

TEST_CASE("servers, property: bytes are those of the shards, up and down, but a worker's own") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const auto n = static_cast<int>(1 + rng() % 10);
        const auto q = static_cast<std::size_t>(1 + rng() % static_cast<unsigned>(n));
        const auto random_size = [&](Bytes&) {
            return Bytes{static_cast<std::int64_t>(rng() % 50'000)};
        };
        Shards shards = equal_shards(static_cast<int>(q), 0_B, 0_B, 1us);
        std::ranges::transform(shards.up, shards.up.begin(), random_size);
        std::ranges::transform(shards.down, shards.down.begin(), random_size);
        StarRun run(n, link);
        run.spawn_all(shards.member(run, std::nullopt));
        run.simulation.run();

        REQUIRE(run.processes.finished());
        for (int place = 0; place < n; ++place) {
            Bytes sent;
            for (std::size_t j = 0; j < q; ++j)
                sent += static_cast<int>(j) == place ? (n - 1) * shards.down[j] : shards.up[j];
            REQUIRE(run.network.traffic(place).sent == sent);
        }
        REQUIRE(run.network.messages_delivered() == 2 * static_cast<int>(q) * (n - 1));
    }
}

TEST_CASE("servers: each works once, when the last worker's push has come, and answers after it") {
    Shards shards = equal_shards(3, 1000_B, 1000_B, 2s);
    StarRun run(5, link);
    const auto member = shards.member(run, std::nullopt);
    for (int place = 0; place < 5; ++place)
        run.spawn(place, member(run.rank(place)), place == 4 ? 1s : 0s);
    run.simulation.run();

    REQUIRE(shards.began.size() == 3);
    std::ranges::sort(shards.began);
    for (int shard = 0; shard < 3; ++shard) {
        CHECK(shards.began[static_cast<std::size_t>(shard)].first == shard);
        CHECK(shards.began[static_cast<std::size_t>(shard)].second > 1s);
        CHECK(shards.began[static_cast<std::size_t>(shard)].second < 1s + 1ms);
    }
    for (const Duration end : run.ended) CHECK(end > 3s);
}

TEST_CASE("servers: there is at least one, and more than workers change nothing") {
    const auto time_with = [](int servers) {
        return time_on_star(3, link, [servers](const Rank& self) {
            const ShardWeight weight = [](int) { return 1000_B; };
            return server_exchange(self, {servers, std::nullopt}, weight, weight, {});
        });
    };
    CHECK(time_with(4) == time_with(3));
    CHECK_THROWS_AS(time_with(0), LogicError);
}

}  // namespace
}  // namespace paceline::servers_test
