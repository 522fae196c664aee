#include "topologies/fabrics/star.hpp"

#include <chrono>
#include <cstddef>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline::star_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link up{1_Gbps, 10us, 0.5};
const Link down{4_Gbps, 300us, 1.0};

Route found_route(const Fabric& fabric, int from, int to) {
    Route links{99, 98, 97};  // find_route replaces the previous contents
    fabric.find_route(from, to, links);
    return links;
}

TEST_CASE("star: every host has a link up and a link down") {
    const Fabric star = make_star(3, up, down);

    CHECK(star.hosts == 3);
    REQUIRE(star.links.size() == 6);
    for (int host = 0; host < 3; ++host) {
        CHECK(star.links[star_up(host)].bandwidth == 1_Gbps);
        CHECK(star.links[star_up(host)].latency == 10us);
        CHECK(star.links[star_up(host)].capacity() == 500_Mbps);
        CHECK(star.links[star_down(host, 3)].bandwidth == 4_Gbps);
        CHECK(star.links[star_down(host, 3)].latency == 300us);
        CHECK(star.links[star_down(host, 3)].capacity() == 4_Gbps);
    }
}

TEST_CASE("star: a route is the sender's link up and the receiver's link down") {
    const Fabric star = make_star(3, up, down);

    CHECK(found_route(star, 0, 1) == Route{star_up(0), star_down(1, 3)});
    CHECK(found_route(star, 1, 0) == Route{star_up(1), star_down(0, 3)});
    CHECK(found_route(star, 2, 1) == Route{2, 4});
}

struct Run {
    Simulation simulation;
    Network network{simulation, make_star(3, up, down)};
    Time drained;
    Time delivered;
    Processes processes{simulation};
};

Task<> send(Run& run, int from, int to, Bytes size) {
    co_await Send(run.network, from, to, 1, size, Protocol::eager);
    run.drained = run.simulation.now();
}

Task<> receive(Run& run, int to, int from) {
    co_await Receive(run.network, to, from, 1);
    run.delivered = run.simulation.now();
}

TEST_CASE("star: latencies add up, and the slower of up and down sets the pace") {
    Run run;
    run.processes.spawn("sender", send(run, 0, 1, 1000_B));
    run.processes.spawn("receiver", receive(run, 1, 0));

    run.simulation.run();

    CHECK(run.drained == Time{16us});
    CHECK(run.delivered == Time{16us + 310us});
}

TEST_CASE("star: two senders fill a wider link down before they slow one another") {
    Run run;
    run.processes.spawn("one", send(run, 0, 2, 1000_B));
    run.processes.spawn("other", send(run, 1, 2, 1000_B));

    run.simulation.run();

    CHECK(run.drained == Time{16us});
}

TEST_CASE("star: a host of its own has two links and no route") {
    const Fabric star = make_star(1, up, down);

    CHECK(star.links.size() == 2);
}

TEST_CASE("star: a star without hosts is a programming error") {
    CHECK_THROWS_AS(make_star(0, up, down), LogicError);
}

}  // namespace
}  // namespace paceline::star_test
