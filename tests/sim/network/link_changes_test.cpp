// Links that announce when they change next, and transfers that lose what has flowed.
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/sim/network/transfer_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::link_changes_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link gigabit{1_Gbps, 25us};
constexpr Bandwidth down{0};

/// A change of a link as a daemon event, which does not keep the run alive.
struct Change {
    Network& network;
    LinkId link;
    Bandwidth bandwidth;
    Time until;

    void happen(std::uint32_t /*unused*/) { network.set_bandwidth(link, bandwidth, until); }
};

void change_at(Change& change, Duration at) {
    change.network.simulation().at(Time{at}, action<&Change::happen>(change), EventKind::daemon);
}

std::vector<std::string> waiting(const TransferRun& run) {
    std::vector<std::string> names;
    for (const Waiting& one : run.simulation.waiting()) names.push_back(one.process);
    return names;
}

TEST_CASE("network: a flow waits for a link that has announced its return, and then goes on") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Change off{run.network, star_up(0), down, Time{10us}};
    Change on{run.network, star_up(0), 1_Gbps, never};
    change_at(off, 4us);
    change_at(on, 10us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.drained['a'] == 14us);
    CHECK(waiting(run).empty());
}

TEST_CASE("network: a flow that begins on a link that is down waits for its announced return") {
    TransferRun run(make_star(2, gigabit, gigabit));
    run.network.set_bandwidth(star_up(0), down, Time{10us});
    Change on{run.network, star_up(0), 1_Gbps, never};
    change_at(on, 10us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 18us);
}

TEST_CASE("network: flows that share a link that is down all wait for it") {
    TransferRun run(make_star(3, gigabit, gigabit));
    Change off{run.network, star_up(0), down, Time{10us}};
    Change on{run.network, star_up(0), 1_Gbps, never};
    change_at(off, 8us);
    change_at(on, 10us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 18us);
    CHECK(run.drained['b'] == 18us);
}

TEST_CASE("network: without an announced return the run ends, and names who waits") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Change off{run.network, star_up(0), down, never};
    Change on{run.network, star_up(0), 1_Gbps, never};
    change_at(off, 4us);
    change_at(on, 10us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.now() == 4us);
    CHECK(waiting(run) == std::vector<std::string>{"sender of a", "receiver of a"});
}

TEST_CASE("network: a return that is announced and does not come is waited for once") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Change off{run.network, star_up(0), down, Time{10us}};
    change_at(off, 4us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.now() == 10us);
    CHECK(waiting(run) == std::vector<std::string>{"sender of a", "receiver of a"});
}

TEST_CASE("network: an announced return can be postponed, and cancelled") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Change off{run.network, star_up(0), down, Time{10us}};
    Change later_on{run.network, star_up(0), down, Time{30us}};
    Change never_more{run.network, star_up(0), down, never};
    change_at(off, 4us);
    change_at(later_on, 10us);
    change_at(never_more, 20us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.now() == 20us);
}

/// A link that keeps going down and up, as a daemon.
struct Flapping {
    Network& network;
    LinkId link;
    Duration half;
    bool up = true;
    int changes = 0;

    void begin() { happen(0); }
    void happen(std::uint32_t /*unused*/) {
        up = !up;
        ++changes;
        const Time next = later(network.simulation().now(), half);
        network.set_bandwidth(link, up ? 1_Gbps : down, next);
        network.simulation().at(next, action<&Flapping::happen>(*this), EventKind::daemon);
    }
};

TEST_CASE("network: a flow on a link that flaps goes on whenever it is up") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Flapping flapping{run.network, star_up(0), 3us};
    flapping.begin();  // down from 0 to 3, up from 3 to 6 us, and so on
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.drained['a'] == 17us);  // 3 + 3 + 2 us of flow, 3 x 3 us of waiting
}

Task<> wait_for_nothing(TransferRun& run, int self, int other) {
    co_await Receive(run.network, self, other, 99);
}

TEST_CASE("network: flapping links do not keep a run alive whose process waits for ever") {
    constexpr int hosts = 100;
    TransferRun run(make_star(hosts, gigabit, gigabit));
    std::vector<Flapping> flapping;
    for (LinkId link = 0; link < 2 * hosts; ++link)
        flapping.push_back({run.network, link, (1 + link) * Duration{1us}});
    for (Flapping& link : flapping) link.begin();
    for (int host = 1; host + 1 < hosts; host += 2)
        run.transfer({.name = static_cast<char>('0' + host),
                      .from = host,
                      .to = host + 1,
                      .size = 10'000_B});
    run.processes.spawn("hopeful", wait_for_nothing(run, 0, 1));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.delivered.size() == 49);
    CHECK(waiting(run) == std::vector<std::string>{"hopeful"});
}

TEST_CASE("network: beside a link that stays down, one that flaps keeps no run alive") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Flapping flapping{run.network, star_up(0), 3us};
    flapping.begin();
    Change off{run.network, star_down(1, 2), down, never};
    change_at(off, 1us);  // the other one is down until 3 us
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.now() == 1us);
    CHECK(waiting(run) == std::vector<std::string>{"sender of a", "receiver of a"});
}

TEST_CASE("network: a flow across two links that are down waits for the later one") {
    TransferRun run(make_star(2, gigabit, gigabit));
    run.network.set_bandwidth(star_up(0), down, Time{10us});
    run.network.set_bandwidth(star_down(1, 2), down, Time{20us});
    Change first{run.network, star_up(0), 1_Gbps, never};
    Change second{run.network, star_down(1, 2), 1_Gbps, never};
    change_at(first, 10us);
    change_at(second, 20us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 28us);
}

TEST_CASE("network: a change is not announced for the past") {
    TransferRun run(make_star(2, gigabit, gigabit));

    CHECK_THROWS_AS(run.network.set_bandwidth(0, 1_Gbps, Time{-1us}), LogicError);
    CHECK_THROWS_AS(run.network.set_bandwidth(0, Bandwidth{-1}), LogicError);
}

// ---- what is lost ----

struct Loss {
    Network& network;
    LinkId link;

    void happen(std::uint32_t /*unused*/) { network.lose_flows(link); }
};

void lose_at(Loss& loss, Duration at) {
    loss.network.simulation().at(Time{at}, action<&Loss::happen>(loss), EventKind::daemon);
}

TEST_CASE("network: a flow that is lost begins anew, and what had flowed is wasted") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Loss loss{run.network, star_down(1, 2)};
    lose_at(loss, 6us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 14us);
    CHECK(run.network.traffic(0).wasted == 750_B);
    CHECK(run.network.traffic(0).sent == 1000_B);
    CHECK(run.network.traffic(1).wasted == 0_B);
    CHECK(run.network.traffic(1).received == 1000_B);
}

TEST_CASE("network: flows that share a link are lost together, and others go on") {
    TransferRun run(make_star(4, gigabit, gigabit));
    Loss loss{run.network, star_up(0)};
    lose_at(loss, 8us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B});
    run.transfer({.name = 'c', .from = 3, .to = 2, .size = 1000_B});

    run.simulation.run();

    // Both have half of the link throughout, and c has the other half of b's way in.
    CHECK(run.drained['a'] == 24us);
    CHECK(run.drained['b'] == 24us);
    CHECK(run.drained['c'] == 16us);
    CHECK(run.network.traffic(0).wasted == 1000_B);
    CHECK(run.network.traffic(3).wasted == 0_B);
}

TEST_CASE("network: a message that has drained is not lost") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Loss loss{run.network, star_up(0)};
    lose_at(loss, 20us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.delivered['a'] == 58us);
    CHECK(run.network.traffic(0).wasted == 0_B);
}

TEST_CASE("network: a flow that waits for its link and is lost loses what had flowed before") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Change off{run.network, star_up(0), down, Time{10us}};
    Change on{run.network, star_up(0), 1_Gbps, never};
    Loss loss{run.network, star_up(0)};
    change_at(off, 4us);
    lose_at(loss, 7us);
    change_at(on, 10us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 18us);
    CHECK(run.network.traffic(0).wasted == 500_B);
}

TEST_CASE("network: a run is dropped while flows wait for links") {
    TransferRun run(make_star(2, gigabit, gigabit));
    Flapping flapping{run.network, star_up(0), 3us};
    flapping.begin();
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.simulation.run(Time{1us});

    run.processes.drop();
    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.network.messages_delivered() == 1);  // a message in flight is delivered
}

}  // namespace
}  // namespace paceline::link_changes_test
