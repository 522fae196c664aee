#include "sim/network/link_processes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/sim/network/transfer_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::link_processes_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link plain{8_Mbps};  // a byte in a microsecond
constexpr AccessBandwidth usual{8_Mbps, 8_Mbps};

Access access_of(int host, int hosts) {
    return {static_cast<std::uint64_t>(host), star_up(host), star_down(host, hosts), usual};
}

/// A star whose hosts have changing links.
struct Changing : TransferRun {
    LinkProcesses processes_of_links;
    int hosts;

    explicit Changing(int count, std::uint64_t seed = 1)
        : TransferRun(make_star(count, plain, plain), seed),
          processes_of_links(network, RandomStreams(seed)),
          hosts(count) {}

    [[nodiscard]] Access access(int host) const { return access_of(host, hosts); }
    void add_trace(int host, LinkTrace trace) {
        processes_of_links.add_trace(access(host),
                                     std::make_shared<const LinkTrace>(std::move(trace)));
    }
    void add_outages(int host, Outages outages) {
        processes_of_links.add_outages(access(host),
                                       std::make_shared<const Outages>(std::move(outages)));
    }
};

Bandwidth mbps(std::int64_t rate) {
    return {rate * 1'000'000};
}

TEST_CASE("link processes: a trace sets the bandwidths of both directions from its times on") {
    Changing run(3);
    run.add_trace(0, {{{0s, {8_Mbps, 4_Mbps}}, {1ms, {2_Mbps, 16_Mbps}}}, 0s});
    run.transfer({.name = 'u', .from = 0, .to = 1, .size = 1500_B});
    run.transfer({.name = 'd', .from = 2, .to = 0, .size = 1500_B});

    run.simulation.run();

    CHECK(run.drained['u'] == 3ms);  // 1000 bytes by 1 ms, the others at a quarter of the rate
    CHECK(run.drained['d'] == 2ms);  // 500 by 1 ms, the others at the rate of their sender
}

TEST_CASE("link processes: the last row of a trace holds for ever, or its period begins again") {
    const std::vector<LinkTrace::Row> rows{{0s, {8_Mbps, 8_Mbps}}, {2ms, {mbps(0), 8_Mbps}}};
    Changing repeated(2);
    repeated.add_trace(0, {rows, 3ms});
    repeated.transfer({.name = 'a', .from = 0, .to = 1, .size = 5000_B});
    Changing once(2);
    once.add_trace(0, {rows, 0s});
    once.transfer({.name = 'a', .from = 0, .to = 1, .size = 5000_B});

    CHECK(repeated.simulation.run() == RunEnd::idle);
    CHECK(once.simulation.run() == RunEnd::idle);

    CHECK(repeated.drained['a'] == 7ms);  // 2 of 3 ms up
    CHECK(once.drained.empty());
    CHECK(once.now() == 2ms);
    CHECK(once.simulation.waiting().size() == 2);
}

TEST_CASE("link processes: a direction that stays at 0 through a repeated trace is a deadlock") {
    Changing run(2);
    run.add_trace(0, {{{0s, {mbps(0), 8_Mbps}}, {1ms, {mbps(0), 4_Mbps}}}, 2ms});
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    CHECK(run.simulation.run() == RunEnd::idle);

    CHECK(run.now() == 0ms);
    CHECK(run.simulation.waiting().size() == 2);
}

TEST_CASE("link processes: a flow waits through several rows of a trace with bandwidth 0") {
    Changing run(2);
    run.add_trace(0, {{{0s, {8_Mbps, 8_Mbps}},
                       {1ms, {mbps(0), 8_Mbps}},
                       {2ms, {mbps(0), 4_Mbps}},
                       {3ms, {mbps(0), 8_Mbps}}},
                      4ms});
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 2000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 5ms);
    CHECK(run.simulation.events_fired() < 20);
}

TEST_CASE("link processes: fixed on and off times take turns, on first") {
    Changing run(2);
    run.processes_of_links.add_on_off(run.access(0), {3ms, 1ms, LengthLaw::fixed, 2_Mbps});
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 6500_B});

    run.simulation.run();

    // 3000 bytes by 3 ms, 250 by 4, 3000 by 7, 250 by 8.
    CHECK(run.drained['a'] == 8ms);
}

TEST_CASE("link processes: an exponential on/off link carries its long-run share") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        Changing run(2, seed);
        run.processes_of_links.add_on_off(run.access(0),
                                          {30ms, 10ms, LengthLaw::exponential, Bandwidth{0}});
        run.transfer({.name = 'a', .from = 0, .to = 1, .size = Bytes{300'000'000}});

        run.simulation.run();

        // 300 s of flow, in periods of 40 ms: 10^4 of them, whose sum spreads by 0.4 s.
        CHECK(to_seconds(run.drained['a']) == Approx(400).epsilon(0.01));
    }
}

TEST_CASE("link processes: with a random phase a trace begins anywhere in its period") {
    // One direction has 1, 2, ..., 10 Mbps in turn, for a second each.
    LinkTrace trace{.rows = {}, .period = 10s, .phase = LinkPhase::random};
    for (int i = 0; i < 10; ++i) trace.rows.push_back({i * Duration{1s}, {mbps(i + 1), mbps(9)}});
    std::vector<int> begins(11);
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Changing run(2, seed);
        run.add_trace(0, trace);
        Join drained{1};
        const MessageId flow =
            run.network.send(0, 1, 1, Bytes{1'000'000'000}, Protocol::eager, drained);
        const auto rate_at = [&](Duration at) {
            run.simulation.run(Time{at});
            return static_cast<std::size_t>(std::lround(8e6 * run.network.rate(flow)));
        };
        const std::size_t first = rate_at(1us);
        ++begins[first];
        if (first <= 3)
            for (std::size_t i = 1; i <= 4; ++i)
                CHECK(rate_at(static_cast<int>(i) * Duration{1s}) == first + i);
        run.network.forget(flow);
    }

    // The receiver's link has 8 Mbps, so rows of 8, 9 and 10 look alike.
    for (std::size_t rate = 1; rate < 8; ++rate) CHECK(begins[rate] > 10);
    CHECK(begins[8] > 50);
}

TEST_CASE("link processes: with a random phase an on/off link starts on with its long-run share") {
    for (const LengthLaw law : {LengthLaw::fixed, LengthLaw::exponential}) {
        CAPTURE(static_cast<int>(law));
        constexpr int runs = 2000;
        int on_first = 0;
        int on_later = 0;
        for (std::uint64_t seed = 1; seed <= runs; ++seed) {
            Changing run(2, seed);
            run.processes_of_links.add_on_off(run.access(0),
                                              {3s, 1s, law, 2_Mbps, LinkPhase::random});
            Join drained{1};
            const MessageId flow =
                run.network.send(0, 1, 1, Bytes{1'000'000'000}, Protocol::eager, drained);
            run.simulation.run(Time{1us});
            on_first += run.network.rate(flow) > 0.5e-6 ? 1 : 0;
            run.simulation.run(Time{1s});
            on_later += run.network.rate(flow) > 0.5e-6 ? 1 : 0;
            run.network.forget(flow);
        }

        // Four standard deviations of the mean of so many draws.
        CHECK(std::abs(static_cast<double>(on_first) / runs - 0.75) < 0.039);
        CHECK(std::abs(static_cast<double>(on_later) / runs - 0.75) < 0.039);
    }
}

TEST_CASE("link processes: only the chosen access changes, in both directions") {
    Changing run(4);
    run.add_outages(1, {.schedule = {{0ms, 5ms}}});
    run.transfer({.name = 'x', .from = 2, .to = 3, .size = 1000_B});
    run.transfer({.name = 'u', .from = 1, .to = 0, .size = 1000_B});
    run.transfer({.name = 'd', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['x'] == 1ms);
    CHECK(run.drained['u'] == 6ms);
    CHECK(run.drained['d'] == 6ms);
}

TEST_CASE("link processes: transfers pause through an outage, or start anew after it") {
    for (const Transfers transfers : {Transfers::pause, Transfers::restart}) {
        CAPTURE(static_cast<int>(transfers));
        const bool restarts = transfers == Transfers::restart;
        Changing run(2);
        run.add_outages(0,
                        {.schedule = {{1ms, 3ms}, {5ms, 1ms}, {6ms, 2ms}}, .transfers = transfers});
        run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1800_B});

        run.simulation.run();

        // Up in 0..1, 4..5 and from 8 ms.
        CHECK(run.drained['a'] == (restarts ? 9'800us : 4'800us));
        CHECK(run.network.traffic(0).wasted == (restarts ? 2000_B : 0_B));
        CHECK(run.network.traffic(0).sent == 1800_B);
        CHECK(run.network.traffic(1).received == 1800_B);
    }
}

TEST_CASE("link processes: an outage lies on top of a trace") {
    Changing run(2);
    run.add_trace(0, {{{0s, {8_Mbps, 8_Mbps}}, {2ms, {4_Mbps, 8_Mbps}}}, 0s});
    run.add_outages(0, {.schedule = {{1ms, 3ms}}});
    run.add_outages(0, {.schedule = {{2ms, 1ms}}});
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 2000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 6ms);  // 1000 bytes by 1 ms, the others from 4 ms at half the rate
}

TEST_CASE("link processes: a trace row and an outage may end in the same instant") {
    Changing run(2);
    run.add_outages(0, {.schedule = {{1ms, 1ms}}});
    run.add_trace(0, {{{0s, {8_Mbps, 8_Mbps}}, {2ms, {4_Mbps, 8_Mbps}}}, 0s});
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 2000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 4ms);
}

TEST_CASE("link processes: random outages take their long-run share of the time") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        Changing run(2, seed);
        run.add_outages(0, {.mean_between = 30ms, .mean_length = 10ms});
        run.transfer({.name = 'a', .from = 0, .to = 1, .size = Bytes{300'000'000}});

        run.simulation.run();

        CHECK(to_seconds(run.drained['a']) == Approx(400).epsilon(0.01));
    }
}

TEST_CASE("link processes: they keep no run alive, and processes that wait in vain are named") {
    constexpr int hosts = 200;
    Changing run(hosts);
    for (int host = 0; host < hosts; ++host) {
        run.processes_of_links.add_on_off(run.access(host), {1ms, 1ms});
        run.add_outages(host,
                        {.mean_between = 3ms, .mean_length = 1ms, .transfers = Transfers::restart});
    }
    struct Hopeful {
        static Task<> wait(TransferRun& of) { co_await Receive(of.network, 0, 1, 99); }
    };
    run.processes.spawn("hopeful", Hopeful::wait(run));
    run.transfer({.name = 'a', .from = 2, .to = 3, .size = 1000_B});

    CHECK(run.simulation.run() == RunEnd::idle);

    REQUIRE(run.simulation.waiting().size() == 1);
    CHECK(run.simulation.waiting()[0].process == "hopeful");
    CHECK(run.delivered.contains('a'));
    CHECK(run.now() < 1s);
}

// ---- conservation ----

Outages drawn_outages(std::mt19937_64& dice, Transfers transfers) {
    std::uniform_int_distribution<std::int64_t> pause(1, 3'000'000);  // nanoseconds
    Outages outages{.transfers = transfers};
    Duration at{};
    for (int i = 0; i < 20; ++i) {
        at += pause(dice) * Duration{1ns};
        const Duration length = pause(dice) * Duration{1ns} / 4;
        outages.schedule.push_back({at, length});
        at += length;
    }
    return outages;
}

Duration down_until(const Outages& outages, Duration end) {
    Duration down{};
    for (const auto& [at, length] : outages.schedule)
        down += std::max(Duration{}, std::min(end, at + length) - at);
    return down;
}

// Host 0 always has something to send, so its link is full whenever it is up.
TEST_CASE("link processes: what a link has carried is what was delivered and what was wasted") {
    for (const Transfers transfers : {Transfers::pause, Transfers::restart})
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            CAPTURE(seed);
            CAPTURE(static_cast<int>(transfers));
            std::mt19937_64 dice(seed);
            std::uniform_int_distribution<std::int64_t> size(1, 9'000);
            const Outages outages = drawn_outages(dice, transfers);
            Changing run(5);
            run.add_outages(0, outages);
            Bytes total{};
            for (int i = 0; i < 8; ++i) {
                const Bytes bytes{size(dice)};
                total += bytes;
                run.transfer({.name = static_cast<char>('a' + i),
                              .from = 0,
                              .to = 1 + i % 4,
                              .size = bytes,
                              .stream = static_cast<Stream>(i)});
            }

            run.simulation.run();

            REQUIRE(run.drained.size() == 8);
            const Duration end =
                std::ranges::max_element(run.drained, {}, [](auto& d) { return d.second; })->second;
            const double carried = 1e6 * to_seconds(end - down_until(outages, end));
            const Traffic& traffic = run.network.traffic(0);
            CHECK(traffic.sent == total);
            const auto counted = static_cast<double>((total + traffic.wasted).count);
            CHECK(std::abs(carried - counted) < 80);  // half a byte for each flow and outage
            CHECK((transfers == Transfers::restart || traffic.wasted == Bytes{0}));
        }
}

struct Totals {
    std::vector<std::int64_t> counts;
    Duration end;
    bool operator==(const Totals&) const = default;
};

// Each host's link has outages and an on/off process, and each host sends to all others.
Totals busy_run(std::uint64_t seed, Transfers transfers) {
    constexpr int hosts = 6;
    std::mt19937_64 dice(seed);
    Changing run(hosts, seed);
    for (int host = 0; host < hosts; ++host) {
        run.processes_of_links.add_on_off(run.access(host), {5ms, 2ms});
        run.add_outages(host, {.mean_between = 20ms, .mean_length = 3ms, .transfers = transfers});
    }
    char name = 0;
    for (int from = 0; from < hosts; ++from)
        for (int to = 0; to < hosts; ++to)
            if (from != to)
                run.transfer({.name = name++,
                              .from = from,
                              .to = to,
                              .size = Bytes{static_cast<std::int64_t>(dice() % 3000)}});
    CHECK(run.simulation.run() == RunEnd::idle);
    CHECK(run.simulation.waiting().empty());
    Totals totals{{0, 0, 0}, run.now()};
    for (int host = 0; host < hosts; ++host) {
        const Traffic& traffic = run.network.traffic(host);
        totals.counts[0] += traffic.sent.count;
        totals.counts[1] += traffic.received.count;
        totals.counts[2] += traffic.wasted.count;
        totals.counts.insert(totals.counts.end(), {traffic.sent.count, traffic.wasted.count});
    }
    return totals;
}

TEST_CASE("link processes: everything that is sent arrives, whatever links go down") {
    std::int64_t wasted = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);

        const Totals paused = busy_run(seed, Transfers::pause);
        const Totals restarted = busy_run(seed, Transfers::restart);

        CHECK(paused.counts[0] == paused.counts[1]);
        CHECK(paused.counts[2] == 0);
        CHECK(restarted.counts[0] == restarted.counts[1]);
        CHECK(restarted.counts[0] == paused.counts[0]);
        wasted += restarted.counts[2];
    }
    CHECK(wasted > 0);
}

TEST_CASE("link processes: the same seed gives the same run, and another seed another") {
    CHECK(busy_run(3, Transfers::restart) == busy_run(3, Transfers::restart));
    CHECK(busy_run(3, Transfers::restart).end != busy_run(4, Transfers::restart).end);
}

TEST_CASE("link processes: what one access draws does not depend on the others") {
    const auto drained = [](bool others) {
        Changing run(4, 9);
        if (others) run.processes_of_links.add_on_off(run.access(3), {1ms, 1ms});
        run.processes_of_links.add_on_off(run.access(0), {2ms, 1ms});
        run.add_outages(0, {.mean_between = 5ms, .mean_length = 1ms});
        run.transfer({.name = 'a', .from = 0, .to = 1, .size = 50'000_B});
        run.simulation.run();
        return run.drained['a'];
    };

    CHECK(drained(false) == drained(true));
}

TEST_CASE("link processes: accesses with the same process change at times of their own") {
    Changing run(4);
    for (const int host : {0, 1}) {
        run.processes_of_links.add_on_off(run.access(host), {2ms, 1ms});
        run.add_outages(host, {.mean_between = 5ms, .mean_length = 1ms});
    }
    run.transfer({.name = 'a', .from = 0, .to = 2, .size = 50'000_B});
    run.transfer({.name = 'b', .from = 1, .to = 3, .size = 50'000_B});

    run.simulation.run();

    CHECK(run.drained['a'] != run.drained['b']);
}

TEST_CASE("link processes: invalid processes are refused") {
    Changing run(3);
    run.add_trace(0, {{{0s, usual}}, 0s});

    CHECK_THROWS_AS(run.add_trace(0, {{{0s, usual}}, 0s}), LogicError);
    CHECK_THROWS_AS(run.processes_of_links.add_on_off(run.access(0), {1ms, 1ms}), LogicError);
    CHECK_THROWS_AS(run.add_trace(1, {{{1ms, usual}}, 0s}), LogicError);
    CHECK_THROWS_AS(run.add_trace(1, {{{0s, usual}, {0s, usual}}, 0s}), LogicError);
    CHECK_THROWS_AS(run.add_trace(1, {{{0s, usual}, {1s, usual}}, 1s}), LogicError);
    CHECK_THROWS_AS(run.add_trace(1, {{{0s, usual}}, 0s, LinkPhase::random}), LogicError);
    CHECK_THROWS_AS(run.processes_of_links.add_on_off(run.access(1), {0ms, 1ms}), LogicError);
    CHECK_THROWS_AS(run.add_outages(1, {.schedule = {{1s, 2s}, {2s, 1s}}}), LogicError);
    CHECK_THROWS_AS(run.add_outages(1, {.mean_between = 1s}), LogicError);
}

}  // namespace
}  // namespace paceline::link_processes_test
