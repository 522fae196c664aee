#include "sim/network/jitter.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/sim/network/transfer_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::jitter_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const LinkJitter normal{LinkJitterLaw::normal, 5ms, 2e-3};
const LinkJitter cut_normal{LinkJitterLaw::normal, 1ms, 3e-3};
const LinkJitter log_normal{LinkJitterLaw::log_normal, 4ms, 0.75};
const LinkJitter pareto{LinkJitterLaw::pareto, 2ms, 3.5};

std::vector<double> draws(const LinkJitter& jitter, int count, std::uint64_t seed) {
    RandomStream random = RandomStreams(seed).stream("test");
    std::vector<double> all;
    for (int i = 0; i < count; ++i) all.push_back(to_seconds(draw_delay(jitter, random)));
    std::ranges::sort(all);
    return all;
}

double standard_normal(double x) {
    return std::erfc(-x / std::numbers::sqrt2) / 2;
}

// The distribution functions, from textbooks.
double share_below(const LinkJitter& jitter, double x) {
    const double typical = to_seconds(jitter.typical);
    const double spread = jitter.spread;
    switch (jitter.law) {
        case LinkJitterLaw::normal: {
            const double negative = standard_normal(-typical / spread);
            return (standard_normal((x - typical) / spread) - negative) / (1 - negative);
        }
        case LinkJitterLaw::log_normal:
            return standard_normal(std::log(x / typical) / spread);
        case LinkJitterLaw::pareto:
            return x < typical ? 0 : 1 - std::pow(typical / x, spread);
        case LinkJitterLaw::none:
            break;
    }
    return 1;
}

TEST_CASE("jitter: draws follow their distribution function") {
    constexpr int count = 20'000;
    for (const LinkJitter& jitter : {normal, cut_normal, log_normal, pareto})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            CAPTURE(static_cast<int>(jitter.law));
            CAPTURE(seed);
            const std::vector<double> drawn = draws(jitter, count, seed);

            double farthest = 0;  // Kolmogorov's distance
            for (int i = 0; i < count; ++i)
                farthest = std::max(
                    farthest, std::abs(share_below(jitter, drawn[static_cast<std::size_t>(i)]) -
                                       (i + 0.5) / count));

            CHECK(drawn.front() >= 0);
            CHECK(farthest < 1.95 / std::sqrt(count));  // exceeded by one in a thousand
        }
}

TEST_CASE("jitter: the mean of many draws is the closed form's") {
    constexpr int count = 200'000;
    for (const LinkJitter& jitter : {normal, cut_normal, log_normal, pareto}) {
        CAPTURE(static_cast<int>(jitter.law));
        double total = 0;
        for (const double drawn : draws(jitter, count, 7)) total += drawn;

        CHECK(total / count == Approx(to_seconds(mean_delay(jitter))).epsilon(0.01));
    }
}

TEST_CASE("jitter: means have their textbook values") {
    // A half-normal delay has the mean s sqrt(2/pi).
    CHECK(to_seconds(mean_delay({LinkJitterLaw::normal, 0ms, 1e-3})) ==
          Approx(1e-3 * std::sqrt(2 / std::numbers::pi)).epsilon(1e-9));
    CHECK(to_seconds(mean_delay({LinkJitterLaw::normal, 5ms, 1e-4})) == Approx(5e-3).epsilon(1e-9));
    CHECK(to_seconds(mean_delay({LinkJitterLaw::log_normal, 1ms, 1})) ==
          Approx(1e-3 * std::exp(0.5)));
    CHECK(mean_delay({LinkJitterLaw::pareto, 1ms, 2}) == 2ms);
    CHECK(mean_delay({}) == 0ms);
}

TEST_CASE("jitter: without spread every draw is the typical delay") {
    for (const LinkJitterLaw law : {LinkJitterLaw::normal, LinkJitterLaw::log_normal}) {
        const std::vector<double> drawn = draws({law, 3ms, 0}, 10, 1);

        CHECK(drawn.front() == Approx(3e-3).epsilon(1e-9));
        CHECK(drawn.back() == Approx(3e-3).epsilon(1e-9));
        CHECK(to_seconds(mean_delay({law, 3ms, 0})) == Approx(3e-3).epsilon(1e-9));
    }
}

TEST_CASE("jitter: a law without a mean is refused") {
    RandomStream random = RandomStreams(1).stream("test");

    CHECK_THROWS_AS(draw_delay({LinkJitterLaw::pareto, 1ms, 1}, random), LogicError);
    CHECK_THROWS_AS(draw_delay({LinkJitterLaw::log_normal, 0ms, 1}, random), LogicError);
    CHECK_THROWS_AS(draw_delay({LinkJitterLaw::normal, 1ms, -1}, random), LogicError);
}

// ---- on links ----

Link jittering(const LinkJitter& jitter) {
    return {.bandwidth = 1_Gbps, .latency = 25us, .jitter = jitter};
}

Task<> send_many(TransferRun& run, int count, Bytes size) {
    for (int i = 0; i < count; ++i) co_await Send(run.network, 0, 1, 1, size, Protocol::eager);
}

Task<> receive_many(TransferRun& run, int count, std::vector<Duration>& arrivals) {
    for (int i = 0; i < count; ++i) {
        co_await Receive(run.network, 1, 0, 1);
        arrivals.push_back(run.now());
    }
}

// Messages of 1000 bytes, 8 us each on the wire, on a star whose links jitter.
std::vector<Duration> arrivals(const Link& up, const Link& down, int count, std::uint64_t seed) {
    std::vector<Duration> times;
    TransferRun run(make_star(2, up, down), seed);
    run.processes.spawn("sender", send_many(run, count, 1000_B));
    run.processes.spawn("receiver", receive_many(run, count, times));
    run.simulation.run();
    return times;
}

TEST_CASE("jitter: a constant delay of both links is paid once each, by every message") {
    const Link late = jittering({LinkJitterLaw::normal, 100us, 0});

    const std::vector<Duration> times = arrivals(late, late, 3, 1);

    CHECK(times == std::vector<Duration>{8us + 250us, 16us + 250us, 24us + 250us});
}

TEST_CASE("jitter: it delays the message and not the links") {
    TransferRun run(make_star(2, jittering({LinkJitterLaw::normal, 100us, 0}), {1_Gbps, 25us}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 8us);
    CHECK(run.delivered['a'] == 158us);
}

TEST_CASE(
    "jitter: no message overtakes another of its lane, and each arrives as early as that allows") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        const Link late = jittering({LinkJitterLaw::pareto, 10us, 1.5});
        constexpr int count = 100;

        const std::vector<Duration> times = arrivals(late, {1_Gbps, 25us}, count, seed);

        // The link's own stream, drawn message by message.
        RandomStream random = RandomStreams(seed).stream("jitter", star_up(0));
        Duration last{};
        int waited = 0;
        REQUIRE(times.size() == count);
        for (int i = 0; i < count; ++i) {
            const Duration alone = (i + 1) * 8us + 50us + draw_delay(late.jitter, random);
            waited += alone < last ? 1 : 0;
            last = std::max(last, alone);
            CHECK(times[static_cast<std::size_t>(i)] == last);
        }
        CHECK(waited > 0);
    }
}

TEST_CASE("jitter: other lanes do not wait for a late message") {
    const Link late = jittering({LinkJitterLaw::pareto, 10us, 1.1});
    bool overtaken = false;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        TransferRun run(make_star(2, late, {1_Gbps, 25us}), seed);
        run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B, .stream = 1});
        run.transfer({.name = 'b', .from = 0, .to = 1, .size = 1000_B, .stream = 2});
        run.simulation.run();
        overtaken = overtaken || run.delivered['b'] < run.delivered['a'];
    }

    CHECK(overtaken);
}

TEST_CASE("jitter: the same seed gives the same delays, and another seed others") {
    const Link late = jittering(log_normal);

    const std::vector<Duration> once = arrivals(late, late, 50, 3);

    CHECK(arrivals(late, late, 50, 3) == once);
    CHECK(arrivals(late, late, 50, 4) != once);
}

TEST_CASE("jitter: links without jitter draw nothing and do not change the draws of others") {
    const Link late = jittering(log_normal);
    Fabric fabric = make_star(3, {1_Gbps, 25us}, {1_Gbps, 25us});
    fabric.links[star_up(0)].jitter = late.jitter;
    TransferRun run(fabric, 5);
    run.transfer({.name = 'x', .from = 2, .to = 1, .size = 1000_B});
    run.transfer({.name = 'a', .from = 0, .to = 2, .size = 1000_B});

    run.simulation.run();

    RandomStream random = RandomStreams(5).stream("jitter", star_up(0));
    CHECK(run.delivered['x'] == 58us);
    CHECK(run.delivered['a'] == 58us + draw_delay(late.jitter, random));
}

}  // namespace
}  // namespace paceline::jitter_test
