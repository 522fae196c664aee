// What a host spends on each message that it receives, held against queues worked out by hand and,
// by random arrivals, against a single server that serves in the order of arrival (Lindley).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "sim/messages/transfer.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline::receive_cost_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

struct Hosts {
    std::vector<Duration> ended;  // by sender
    Simulation simulation;
    Network network;
    Processes processes{simulation};

    Hosts(Fabric fabric, Duration receive_cost)
        : ended(static_cast<std::size_t>(fabric.hosts)),
          network(simulation, std::move(fabric), {.receive_cost = receive_cost}) {}
};

Task<> send_one(Hosts& hosts, int from, int to, Bytes size, Duration begin) {
    co_await hosts.simulation.sleep(begin);
    Join sent(1);
    hosts.network.send(from, to, 1, size, Protocol::eager, sent);
    co_await Receive(hosts.network, to, from, 1);
    hosts.ended[static_cast<std::size_t>(from)] = hosts.simulation.now().time_since_epoch();
}

const Link fast{unlimited, 5us};

TEST_CASE("receive cost: one message is later by it, and three at once wait for each other") {
    Hosts one(make_star(4, fast, fast), 20us);
    one.processes.spawn("a", send_one(one, 0, 3, 1_MB, 0s));
    one.simulation.run();
    CHECK(one.ended[0] == 10us + 20us);

    Hosts three(make_star(4, fast, fast), 20us);
    for (int from = 0; from < 3; ++from)
        three.processes.spawn("a", send_one(three, from, 3, 1_MB, 0s));
    three.simulation.run();
    std::ranges::sort(three.ended.begin(), three.ended.begin() + 3);
    CHECK(three.ended[0] == 30us);
    CHECK(three.ended[1] == 50us);
    CHECK(three.ended[2] == 70us);
}

TEST_CASE("receive cost: hosts do not share it, and a machine's own messages have none") {
    Hosts apart(make_star(4, fast, fast), 20us);
    apart.processes.spawn("a", send_one(apart, 0, 2, 1_MB, 0s));
    apart.processes.spawn("b", send_one(apart, 1, 3, 1_MB, 0s));
    apart.simulation.run();
    CHECK(apart.ended[0] == 30us);
    CHECK(apart.ended[1] == 30us);

    Bus bus;
    bus.lane = fast;
    Hosts inside(make_machines(4, 2, bus, make_star(2, fast, fast)), 20us);
    inside.processes.spawn("a", send_one(inside, 0, 1, 1_MB, 0s));
    inside.simulation.run();
    CHECK(inside.ended[0] == 10us);
}

TEST_CASE("receive cost, property: a receiver serves messages in the order of their arrival") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int senders = static_cast<int>(2 + rng() % 8);
        const Duration cost{static_cast<std::int64_t>(1'000'000 + rng() % 30'000'000)};
        Hosts hosts(make_star(senders + 1, fast, fast), cost);
        std::vector<Duration> begins;
        for (int from = 0; from < senders; ++from) {
            begins.emplace_back(static_cast<std::int64_t>(rng() % 100'000'000));
            hosts.processes.spawn("s", send_one(hosts, from, senders, 1000_B, begins.back()));
        }
        hosts.simulation.run();

        std::vector<std::size_t> order(begins.size());
        std::ranges::generate(order, [i = std::size_t{0}]() mutable { return i++; });
        std::ranges::sort(order, {}, [&](std::size_t i) { return begins[i]; });
        Duration free{};
        for (const std::size_t i : order) {
            free = std::max(free, begins[i] + 10us) + cost;
            CHECK(hosts.ended[i] == free);
        }
    }
}

}  // namespace
}  // namespace paceline::receive_cost_test
