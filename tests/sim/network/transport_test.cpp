// What a protocol adds to the links: slow start, and acknowledgements in the reverse direction.
#include <chrono>

#include <doctest/doctest.h>

#include "sim/messages/transfer.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::transport_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Bytes first_window{14'480};

struct Wire {
    Simulation simulation;
    Network network;
    std::vector<Duration> ended;
    Processes processes{simulation};

    Wire(const Link& link, const Transport& transport)
        : network(simulation, make_star(2, link, link), transport) {}
};

Task<> pass(Wire& wire, int from, int to, std::vector<Bytes> sizes, Duration delay) {
    co_await wire.simulation.sleep(delay);
    for (const Bytes size : sizes) {
        Join sent(1);
        wire.network.send(from, to, 1, size, Protocol::eager, sent);
        co_await Receive(wire.network, to, from, 1);
        wire.ended.push_back(wire.simulation.now().time_since_epoch());
    }
}

TEST_CASE("slow start: a first message loses what its windows leave unused, later ones nothing") {
    // RTT 10 ms, 1 Gbps: a window of 1.25 MB fills the way. The windows before it are 14,480 bytes
    // times 1, 2, ..., 64 and take 0.11584 ms times as much: 7 x 10 ms - 127 x 0.11584 ms are lost.
    Wire wire({1_Gbps, 2500us}, {.first_window = first_window});
    wire.processes.spawn("sender", pass(wire, 0, 1, {10_MB, 10_MB}, 0s));
    wire.simulation.run();

    const Duration alone = 80ms + 5ms;
    REQUIRE(wire.ended.size() == 2);
    CHECK(wire.ended[0] == alone + 70ms - 127 * 115'840ns);
    CHECK(wire.ended[1] - wire.ended[0] == alone);
}

TEST_CASE("slow start: each direction of each pair is a connection of its own") {
    Wire wire({1_Gbps, 2500us}, {.first_window = first_window});
    wire.processes.spawn("there", pass(wire, 0, 1, {10_MB}, 0s));
    wire.processes.spawn("back", pass(wire, 1, 0, {10_MB}, 1s));
    wire.simulation.run();

    REQUIRE(wire.ended.size() == 2);
    CHECK(wire.ended[1] - wire.ended[0] == 1s);
}

TEST_CASE("slow start: a message within the first window loses nothing, nor one on a short path") {
    Wire small({1_Gbps, 2500us}, {.first_window = first_window});
    small.processes.spawn("sender", pass(small, 0, 1, {first_window}, 0s));
    small.simulation.run();
    CHECK(small.ended.at(0) == 115'840ns + 5ms);

    Wire near({1_Gbps, 25us}, {.first_window = first_window});  // RTT 100 us: 12.5 kB fill it
    near.processes.spawn("sender", pass(near, 0, 1, {10_MB}, 0s));
    near.simulation.run();
    CHECK(near.ended.at(0) == 80ms + 50us);
}

TEST_CASE("slow start: the message has drained before a window fills the path") {
    // 14,480 + 28,960 < 50,000: two windows are waited for, the rest follows.
    Wire wire({1_Gbps, 2500us}, {.first_window = first_window});
    wire.processes.spawn("sender", pass(wire, 0, 1, {50'000_B}, 0s));
    wire.simulation.run();
    CHECK(wire.ended.at(0) == 400us + 5ms + 20ms - 3 * 115'840ns);
}

TEST_CASE("acknowledgements: two opposite flows each have their share of the link") {
    Link link{1_Gbps, 0s};
    link.duplex_share = 0.8;
    Wire wire(link, {});
    wire.processes.spawn("there", pass(wire, 0, 1, {1_MB}, 0s));
    wire.processes.spawn("back", pass(wire, 1, 0, {1_MB}, 0s));
    wire.simulation.run();

    CHECK(wire.ended == std::vector<Duration>{10ms, 10ms});
}

TEST_CASE("acknowledgements: the share applies only while the reverse direction is busy") {
    // 4 ms alone, then both ways at 0.8: the first has 4 ms of work left and needs 5, the other one
    // has then sent half and goes on alone.
    Link link{1_Gbps, 0s};
    link.duplex_share = 0.8;
    Wire wire(link, {});
    wire.processes.spawn("there", pass(wire, 0, 1, {1_MB}, 0s));
    wire.processes.spawn("back", pass(wire, 1, 0, {1_MB}, 4ms));
    wire.simulation.run();

    REQUIRE(wire.ended.size() == 2);
    CHECK(to_seconds(wire.ended[0]) == doctest::Approx(9e-3).epsilon(1e-9));
    CHECK(to_seconds(wire.ended[1]) == doctest::Approx(13e-3).epsilon(1e-9));
}

/// Two hosts with cables that acknowledgements share, and host 2, whose link up is down.
struct Triangle {
    Simulation simulation;
    Network network;
    Processes processes{simulation};
    Join unheard{10};

    static Link cable() {
        Link link{1_Gbps, 0s};
        link.duplex_share = 0.8;
        return link;
    }
    Triangle() : network(simulation, make_star(3, cable(), cable())) {
        network.set_bandwidth(star_up(2), Bandwidth{0});
    }
    void send(int from, int to, Stream stream, Bytes size) {
        network.send(from, to, stream, size, Protocol::eager, unheard);
    }
};

TEST_CASE("acknowledgements: a flow that stands still takes nothing from the reverse direction") {
    Triangle run;
    run.send(2, 0, 1, 1_MB);  // stands still on the link down to host 0
    run.send(0, 1, 1, 1_MB);

    run.simulation.run();

    CHECK(run.simulation.now() == Time{8ms});
    CHECK(run.network.flows_in_flight() == 1);
}

TEST_CASE("acknowledgements: a flow that stops and goes on changes the reverse direction") {
    Triangle run;
    run.send(1, 0, 1, 100_MB);  // moves, unless link up of host 1 is down
    const auto change = [&run](Duration at, Bandwidth bandwidth) {
        run.simulation.run(Time{at});
        run.network.set_bandwidth(star_up(1), bandwidth);
    };
    Join sent{1};
    run.network.send(0, 2, 1, 1_MB, Protocol::eager, sent);
    change(5ms, Bandwidth{0});  // 4 of 8 ms of work are done by now
    change(6ms, 1_Gbps);        // 3 are left: 3.75 ms
    run.simulation.run(Time{9750us - 1us});
    const bool before = sent.complete();
    run.simulation.run(Time{9750us + 1us});

    CHECK_FALSE(before);
    CHECK(sent.complete());
}

TEST_CASE("acknowledgements: a flow whose two links are down moves once both are up") {
    Triangle run;
    run.network.set_bandwidth(star_down(0, 3), Bandwidth{0});
    run.send(2, 0, 1, 100_MB);
    Join sent{1};
    run.network.send(0, 1, 1, 1_MB, Protocol::eager, sent);
    run.network.set_bandwidth(star_down(0, 3), 1_Gbps);
    run.simulation.run(Time{4ms});  // half of it, at the full rate
    run.network.set_bandwidth(star_up(2), 1_Gbps);
    run.simulation.run(Time{9ms - 1us});
    const bool before = sent.complete();
    run.simulation.run(Time{9ms + 1us});

    CHECK_FALSE(before);
    CHECK(sent.complete());
}

TEST_CASE("acknowledgements: a single direction has all of the link") {
    Link link{1_Gbps, 0s};
    link.duplex_share = 0.8;
    Wire wire(link, {});
    wire.processes.spawn("there", pass(wire, 0, 1, {1_MB}, 0s));
    wire.processes.spawn("back", pass(wire, 1, 0, {1_MB}, 8ms));
    wire.simulation.run();

    CHECK(wire.ended == std::vector<Duration>{8ms, 16ms});
}

}  // namespace
}  // namespace paceline::transport_test
