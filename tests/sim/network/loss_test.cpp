#include "sim/network/loss.hpp"

#include <chrono>
#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/sim/network/transfer_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::loss_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

Link losing(Bandwidth bandwidth, Duration latency, double loss) {
    return {.bandwidth = bandwidth, .latency = latency, .loss = loss};
}

double seconds(Duration span) {
    return to_seconds(span);
}

TEST_CASE("loss: the bound is MSS/RTT sqrt(3/2)/sqrt(p)") {
    const auto bound = [](double loss, Duration round_trip) {
        return static_cast<double>(loss_bound(loss, round_trip).bits_per_second);
    };

    // 1448 bytes in 100 ms, times sqrt(1.5 / 0.01) = 12.247...
    CHECK(bound(0.01, 100ms) == Approx(8 * 14'480 * std::sqrt(150)).epsilon(1e-6));
    CHECK(bound(0.04, 100ms) == Approx(bound(0.01, 100ms) / 2).epsilon(1e-5));
    CHECK(bound(0.01, 200ms) == Approx(bound(0.01, 100ms) / 2).epsilon(1e-5));
}

TEST_CASE("loss: without loss, or without links, there is no bound") {
    const Bandwidth unbounded = loss_bound(0, 100ms);

    CHECK(unbounded > Bandwidth{1'000'000'000'000'000'000});
    CHECK(loss_bound(0.5, 0ms) == unbounded);
    CHECK(loss_bound(1e-300, Duration{1}) == unbounded);
    CHECK(loss_bound(0.999, 100h) == Bandwidth{1});
    CHECK_THROWS_AS(loss_bound(1, 1ms), LogicError);
}

TEST_CASE("loss: the losses of a route's links combine") {
    CHECK(combined_loss(0, 0.25) == 0.25);
    CHECK(combined_loss(0.5, 0.5) == 0.75);
}

TEST_CASE("loss: retransmissions take their share of a link") {
    // No latency, so that no flow is bounded.
    TransferRun run(make_star(3, losing(1_Gbps, 0us, 0.2), {1_Gbps}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1'000'000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1'000'000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 20ms);
    CHECK(run.drained['b'] == 20ms);
}

TEST_CASE("loss: a flow alone has the bound of both its links") {
    const Link lossy = losing(1_Gbps, 10ms, 0.01);
    TransferRun run(make_star(2, lossy, lossy));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1_MB});

    run.simulation.run();

    const double p = 1 - 0.99 * 0.99;
    const double rate = 1448 / 0.04 * std::sqrt(1.5) / std::sqrt(p);
    CHECK(seconds(run.drained['a']) == Approx(1e6 / rate).epsilon(1e-6));
}

TEST_CASE("loss: the bound is that of each flow and not of the link") {
    const Link lossy = losing(1_Gbps, 10ms, 0.01);
    TransferRun run(make_star(3, lossy, {1_Gbps}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1_MB});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1_MB});
    run.transfer({.name = 'c', .from = 0, .to = 2, .size = 1_MB, .stream = 2});

    run.simulation.run();

    const double rate = 1448 / 0.02 * std::sqrt(1.5) / 0.1;
    CHECK(seconds(run.drained['a']) == Approx(1e6 / rate).epsilon(1e-6));
    CHECK(seconds(run.drained['b']) == Approx(1e6 / rate).epsilon(1e-6));
    CHECK(seconds(run.drained['c']) == Approx(1e6 / rate).epsilon(1e-6));
}

TEST_CASE("loss: other flows get what a bounded flow leaves of a shared link") {
    // Host 0 receives from a distant host over a lossy link, and from a near one.
    Fabric fabric = make_star(3, {20_Mbps}, {20_Mbps});
    fabric.links[star_up(1)] = losing(1_Gbps, 10ms, 0.01);
    TransferRun run(fabric);
    run.transfer({.name = 'f', .from = 1, .to = 0, .size = 100'000_B});
    run.transfer({.name = 'n', .from = 2, .to = 0, .size = 100'000_B});

    run.simulation.run();

    const double bound = 1448 / 0.02 * std::sqrt(1.5) / 0.1;  // bytes per second: 7.1 Mbps
    CHECK(seconds(run.drained['f']) == Approx(1e5 / bound).epsilon(1e-6));
    CHECK(seconds(run.drained['n']) == Approx(1e5 / (2.5e6 - bound)).epsilon(1e-6));
}

TEST_CASE("loss: a bound above a flow's share of the link does not matter") {
    const Link lossy = losing(10_Mbps, 1ms, 0.001);  // the bound is 222 Mbps
    TransferRun run(make_star(2, lossy, {1_Gbps}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1_MB});

    run.simulation.run();

    CHECK(seconds(run.drained['a']) == Approx(0.8 / 0.999).epsilon(1e-9));
}

TEST_CASE("loss: jitter counts in the round trip with its mean") {
    Link lossy = losing(1_Gbps, 10ms, 0.01);
    lossy.jitter = {LinkJitterLaw::pareto, 5ms, 2};  // mean 10 ms
    TransferRun run(make_star(2, lossy, {1_Gbps}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1_MB});

    run.simulation.run();

    const double rate = 1448 / 0.04 * std::sqrt(1.5) / 0.1;
    CHECK(seconds(run.drained['a']) == Approx(1e6 / rate).epsilon(1e-6));
}

}  // namespace
}  // namespace paceline::loss_test
