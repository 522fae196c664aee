#include "sim/network/network_part.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/all_reduce.hpp"
#include "sim/engine/processes.hpp"
#include "sim/messages/transfer.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::network_part_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link gigabit{1_Gbps};

Task<> send(NetworkPart part, Bytes size) {
    co_await Send(part, 0, 1, 1, size, Protocol::eager);
}

Task<> receive(NetworkPart part, std::vector<Time>& at) {
    co_await Receive(part, 1, 0, 1);
    at.push_back(part.simulation().now());
}

TEST_CASE("network part: its hosts are numbered from its first") {
    Simulation simulation;
    Network network(simulation, make_star(5, gigabit, gigabit));
    const NetworkPart part(network, 3);
    std::vector<Time> at;
    Processes processes(simulation);
    processes.spawn("receiver", receive(part, at));
    processes.spawn("sender", send(part, 1000_B));

    simulation.run();

    CHECK(part.hosts() == 2);
    CHECK(NetworkPart(network).hosts() == 5);
    CHECK(at == std::vector<Time>{Time{8us}});
    CHECK(network.traffic(3).sent == 1000_B);
    CHECK(network.traffic(4).received == 1000_B);
    CHECK(part.traffic(0).sent == 1000_B);
    CHECK(network.traffic(0).sent == 0_B);
}

TEST_CASE("network part: messages of equal lanes in two parts are never taken for one another") {
    Simulation simulation;
    Network network(simulation, make_star(4, gigabit, gigabit));
    std::vector<Time> at;
    Processes processes(simulation);
    processes.spawn("first receiver", receive({network, 0}, at));
    processes.spawn("second receiver", receive({network, 2}, at));
    processes.spawn("second sender", send({network, 2}, 1000_B));

    CHECK(simulation.run() == RunEnd::idle);

    CHECK(at.size() == 1);
    REQUIRE(simulation.waiting().size() == 1);
    CHECK(simulation.waiting()[0].process == "first receiver");
}

TEST_CASE("network part: a collective takes as long in it as on a network of its own") {
    const auto end = [](int hosts, int first) {
        Simulation simulation;
        Network network(simulation, make_star(hosts, gigabit, gigabit));
        Processes processes(simulation);
        for (int place = 0; place < 4; ++place)
            processes.spawn(
                "rank", ring_all_reduce(Rank({network, first}, whole_group(4), place, 1), 1_MB));
        simulation.run();
        CHECK(processes.finished());
        return simulation.now();
    };

    CHECK(end(9, 5) == end(4, 0));
}

}  // namespace
}  // namespace paceline::network_part_test
