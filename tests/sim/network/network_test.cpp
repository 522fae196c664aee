#include "sim/network/network.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/messages/transfer.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::network_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

// 1000 bytes take 8 us on a gigabit link; from host to host of a star it is 50 us more.
const Link gigabit{1_Gbps, 25us};

Fabric gigabit_star(int hosts) {
    return make_star(hosts, gigabit, gigabit);
}

/// Host i has one link, number i, to host i+1.
Fabric make_line(std::vector<Link> links) {
    const int hosts = static_cast<int>(links.size()) + 1;
    return {.hosts = hosts,
            .links = std::move(links),
            .back = {},
            .find_route =
                [](int from, int to, Route& route) {
                    route.clear();
                    for (int link = from; link < to; ++link)
                        route.push_back(static_cast<LinkId>(link));
                },
            .label = {}};
}

struct Message {
    char name;
    int from;
    int to;
    Bytes size;
    Duration at{};
    Stream stream = 1;
    Protocol protocol = Protocol::eager;
};

struct Run {
    Simulation simulation;
    Network network;
    std::map<char, Duration> drained;
    std::map<char, Duration> delivered;
    Processes processes{simulation};

    explicit Run(Fabric fabric, Duration overhead = {})
        : network(simulation, std::move(fabric), {.overhead = overhead}) {}

    [[nodiscard]] Duration now() const { return simulation.now().time_since_epoch(); }
    void send(const Message& message);
    /// Messages of one lane, in this order.
    void receive(const std::vector<Message>& lane);
    void transfer(const Message& message) {
        send(message);
        receive({message});
    }
};

Task<> send_at(Run& run, Message message) {
    co_await run.simulation.sleep(message.at);
    co_await Send(run.network, message.from, message.to, message.stream, message.size,
                  message.protocol);
    run.drained[message.name] = run.now();
}

Task<> receive_in_order(Run& run, std::vector<Message> lane) {
    for (const Message& message : lane) {
        co_await Receive(run.network, message.to, message.from, message.stream);
        run.delivered[message.name] = run.now();
    }
}

Task<> set_bandwidth_at(Run& run, Duration at, LinkId link, Bandwidth bandwidth) {
    co_await run.simulation.sleep(at);
    run.network.set_bandwidth(link, bandwidth);
}

void Run::send(const Message& message) {
    processes.spawn(std::string("sender of ") + message.name, send_at(*this, message));
}

void Run::receive(const std::vector<Message>& lane) {
    processes.spawn(std::string("receiver of ") + lane.front().name, receive_in_order(*this, lane));
}

using Times = std::map<char, Duration>;

// ---- one flow ----

TEST_CASE("network: a message alone drains in size over bandwidth, and arrives a latency later") {
    Run run(gigabit_star(2));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.drained == Times{{'a', 8us}});
    CHECK(run.delivered == Times{{'a', 58us}});
}

TEST_CASE("network: a message alone is timed in whole picoseconds, rounded up") {
    const Link odd{Bandwidth{7'000'000'001}, Duration{1}};
    Run run(make_star(2, odd, odd));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 97'000'001_B});

    run.simulation.run();

    // 97'000'001 * 8e12 / 7'000'000'001 = 110'857'143'984'163'265.3...
    const Duration drained = 97'000'001_B / Bandwidth{7'000'000'001};
    CHECK(run.drained['a'] == drained);
    CHECK(run.delivered['a'] == drained + Duration{2});
}

TEST_CASE("network: a message takes its slowest link once and every latency once") {
    Run run(make_line({{10_Gbps, 1us}, {1_Gbps, 20us}, {4_Gbps, 300us}}));
    run.transfer({.name = 'a', .from = 0, .to = 3, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 8us);
    CHECK(run.delivered['a'] == 8us + 321us);
}

TEST_CASE("network: efficiency is the share of a link that payload can have") {
    Run run(make_star(2, {1_Gbps, 25us, 0.5}, {1_Gbps, 25us, 1.0}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 16us);
    CHECK(run.delivered['a'] == 66us);
}

TEST_CASE("network: efficiency holds for links that are shared, too") {
    Run run(make_star(3, {1_Gbps, 25us, 0.5}, {1_Gbps, 25us, 1.0}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 32us}, {'b', 32us}});
}

TEST_CASE("network: a message without bytes takes the latency and no bandwidth") {
    Run run(gigabit_star(3));
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B});
    run.transfer({.name = 'z', .from = 0, .to = 1, .size = 0_B, .at = 2us});

    run.simulation.run();

    CHECK(run.drained == Times{{'b', 8us}, {'z', 2us}});
    CHECK(run.delivered == Times{{'b', 58us}, {'z', 52us}});
}

TEST_CASE("network: a message too slow for the range of time ends the run as out of range") {
    Run run(make_star(2, {Bandwidth{1}, 25us}, gigabit));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 2_MB});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::out_of_range);
}

// ---- flows that share ----

TEST_CASE("network: two flows on a link share it evenly, and the survivor speeds up") {
    Run run(gigabit_star(3));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 2000_B});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 16us}, {'b', 24us}});
    CHECK(run.delivered == Times{{'a', 66us}, {'b', 74us}});
}

TEST_CASE("network: flows over many links share the one that they have in common") {
    Run run(make_line(std::vector<Link>(24, gigabit)));
    run.transfer({.name = 'a', .from = 0, .to = 12, .size = 1000_B});
    run.transfer({.name = 'b', .from = 11, .to = 24, .size = 2000_B});
    run.transfer({.name = 'c', .from = 23, .to = 24, .size = 1500_B});

    run.simulation.run();

    // a and b share link 11, b and c link 23: each has half of a link, until a and then c are done.
    CHECK(run.drained == Times{{'a', 16us}, {'b', 28us}, {'c', 24us}});
}

TEST_CASE("network: a flow that starts later slows the one under way from then on") {
    Run run(gigabit_star(3));
    run.transfer({.name = 'a', .from = 0, .to = 2, .size = 1000_B});
    run.transfer({.name = 'b', .from = 1, .to = 2, .size = 1000_B, .at = 4us});

    run.simulation.run();

    // a: 500 bytes by 4 us, the other 500 at half the rate; b: 500 by then, the rest alone.
    CHECK(run.drained == Times{{'a', 12us}, {'b', 16us}});
}

TEST_CASE("network: flows that share no link do not slow one another") {
    Run run(gigabit_star(4));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 1, .to = 0, .size = 1000_B});
    run.transfer({.name = 'c', .from = 2, .to = 3, .size = 1000_B, .at = 2us});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}, {'b', 8us}, {'c', 10us}});
}

TEST_CASE(
    "network: on a parking lot all get equal shares, and the last flow gets what they leave") {
    Run run(make_line({gigabit, gigabit, gigabit}));
    run.transfer({.name = 'l', .from = 0, .to = 3, .size = 2000_B});
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 1, .to = 2, .size = 1000_B});
    run.transfer({.name = 'c', .from = 2, .to = 3, .size = 500_B});

    run.simulation.run();

    // Half each: c is through at 8 us, a and b at 16 us; then the long one has 1000 bytes to go.
    CHECK(run.drained == Times{{'a', 16us}, {'b', 16us}, {'c', 8us}, {'l', 24us}});
}

TEST_CASE("network: a change reaches flows that are two links away") {
    // a holds b to half of link 0, so that c has the greater part of link 1 until a is through.
    Run run(make_line({{1_Gbps, 0us}, {2_Gbps, 0us}}));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 3000_B});
    run.transfer({.name = 'c', .from = 1, .to = 2, .size = 4000_B});

    run.simulation.run();

    // Until 16 us: a and b 0.5, c 1.5 Gbps. Then b and c have 1 Gbps each, with 2000 and 1000 bytes
    // to go, until c is through at 24 us; b stays at the 1 Gbps of link 0.
    CHECK(run.drained == Times{{'a', 16us}, {'b', 32us}, {'c', 24us}});
}

TEST_CASE("network: a flow that starts when another drains has the link for itself") {
    Run run(gigabit_star(3));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B, .at = 8us});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}, {'b', 16us}});
}

TEST_CASE("network: flows start, drain and change their link in one instant") {
    Run run(gigabit_star(4));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 2000_B});
    run.transfer({.name = 'c', .from = 0, .to = 3, .size = 1000_B, .at = 16us});
    run.processes.spawn("change", set_bandwidth_at(run, 16us, star_up(0), 500_Mbps));

    run.simulation.run();

    // At 16 us a is through, b has 1000 bytes to go and c begins: both at a quarter of a gigabit.
    CHECK(run.drained == Times{{'a', 16us}, {'b', 48us}, {'c', 48us}});
}

TEST_CASE("network: a message of one byte among many drains in the time of its share") {
    Run run(gigabit_star(3));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1_B, .at = 4us});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us + 8ns}, {'b', 4us + 16ns}});
}

TEST_CASE("network: the rate of a message is its share while it flows, and 0 otherwise") {
    Run run(gigabit_star(3));
    Join drained{4};
    const MessageId one = run.network.send(0, 1, 1, 1000_B, Protocol::eager, drained);
    const MessageId other = run.network.send(0, 2, 1, 2000_B, Protocol::eager, drained);
    const MessageId queued = run.network.send(0, 1, 1, 1000_B, Protocol::eager, drained);
    const MessageId held = run.network.send(0, 2, 2, 1000_B, Protocol::rendezvous, drained);

    const double at_first = run.network.rate(one);
    run.simulation.run(Time{1us});

    CHECK(at_first == 0);
    CHECK(run.network.rate(one) == Approx(0.5 * 125e-6).epsilon(1e-12));
    CHECK(run.network.rate(other) == Approx(0.5 * 125e-6).epsilon(1e-12));
    CHECK(run.network.rate(queued) == 0);
    CHECK(run.network.rate(held) == 0);
    CHECK(run.network.flows_in_flight() == 2);

    run.simulation.run(Time{17us});  // one has drained, and is not delivered yet
    CHECK(run.network.rate(one) == 0);
    CHECK(run.network.rate(queued) == Approx(0.5 * 125e-6).epsilon(1e-12));

    run.simulation.run(Time{33us});  // both have drained at 32 us
    CHECK(run.network.rate(other) == 0);
    CHECK(run.network.rate(queued) == 0);
    CHECK(run.network.flows_in_flight() == 0);

    run.simulation.run();
    CHECK(run.network.rate(one) == 0);
}

TEST_CASE("network: the name of a delivered message does not name the one that follows it") {
    Run run(gigabit_star(2));
    Join drained{2};
    const MessageId first = run.network.send(0, 1, 1, 1000_B, Protocol::eager, drained);
    run.simulation.run();

    const MessageId second = run.network.send(0, 1, 1, 1000_B, Protocol::eager, drained);
    run.network.forget(first);
    run.simulation.run(run.simulation.now() + 1us);

    CHECK(run.network.rate(first) == 0);
    CHECK(run.network.rate(second) == Approx(125e-6));
    run.simulation.run();
    CHECK(drained.complete());  // forgetting the first has not touched the second
}

// ---- links that change ----

TEST_CASE("network: a link that changes its bandwidth changes it for the flow under way") {
    Run run(gigabit_star(2));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.processes.spawn("change", set_bandwidth_at(run, 4us, star_down(1, 2), 250_Mbps));

    run.simulation.run();

    CHECK(run.drained['a'] == 20us);
}

TEST_CASE("network: a link that goes down stops its flows, and they go on when it is back") {
    Run run(gigabit_star(2));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.processes.spawn("down", set_bandwidth_at(run, 4us, star_up(0), Bandwidth{0}));
    run.processes.spawn("up", set_bandwidth_at(run, 10us, star_up(0), 1_Gbps));

    run.simulation.run();

    CHECK(run.drained['a'] == 14us);
    CHECK(run.delivered['a'] == 64us);
}

TEST_CASE("network: a flow that starts on a link that is down waits until it is up") {
    Run run(gigabit_star(2));
    run.network.set_bandwidth(star_up(0), Bandwidth{0});
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.processes.spawn("up", set_bandwidth_at(run, 10us, star_up(0), 1_Gbps));

    run.simulation.run();

    CHECK(run.drained['a'] == 18us);
}

TEST_CASE("network: a link that goes down and up in one instant has not been down") {
    Run run(gigabit_star(2));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.processes.spawn("down", set_bandwidth_at(run, 4us, star_up(0), Bandwidth{0}));
    run.processes.spawn("up", set_bandwidth_at(run, 4us, star_up(0), 1_Gbps));

    run.simulation.run();

    CHECK(run.drained['a'] == 8us);
}

TEST_CASE("network: a flow that waits for a link leaves its share of other links to other flows") {
    Run run(gigabit_star(3));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B});
    run.processes.spawn("down", set_bandwidth_at(run, 4us, star_down(1, 3), Bandwidth{0}));
    run.processes.spawn("up", set_bandwidth_at(run, 20us, star_down(1, 3), 1_Gbps));

    run.simulation.run();

    // By 4 us each has 250 bytes; b has 750 to go alone, a its own from 20 us.
    CHECK(run.drained == Times{{'a', 26us}, {'b', 10us}});
}

TEST_CASE("network: a run whose link stays down ends idle, and waiting processes are named") {
    Run run(gigabit_star(2));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.processes.spawn("down", set_bandwidth_at(run, 4us, star_up(0), Bandwidth{0}));

    const RunEnd end = run.simulation.run();

    const std::vector<Waiting> waiting = run.simulation.waiting();
    CHECK(end == RunEnd::idle);
    CHECK(run.now() == 4us);
    REQUIRE(waiting.size() == 2);
    CHECK(waiting[0].process == "sender of a");
    CHECK(waiting[0].what == "room on the way to node 1");
    CHECK(waiting[1].process == "receiver of a");
    CHECK(waiting[1].what == "a message from node 0");
    CHECK(run.network.flows_in_flight() == 1);
}

TEST_CASE("network: the bandwidth of a quiet link counts for the next flow") {
    Run run(gigabit_star(2));
    run.network.set_bandwidth(star_up(0), 100_Mbps);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 80us);
}

// ---- lanes ----

TEST_CASE(
    "network: messages of a lane go one after the other, while another stream has its share") {
    Run run(gigabit_star(2));
    const Message first{.name = 'a', .from = 0, .to = 1, .size = 1000_B, .stream = 1};
    const Message second{.name = 'b', .from = 0, .to = 1, .size = 1000_B, .stream = 1};
    const Message beside{.name = 'c', .from = 0, .to = 1, .size = 1000_B, .stream = 2};
    run.send(first);
    run.send(second);
    run.receive({first, second});
    run.transfer(beside);

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 16us}, {'b', 24us}, {'c', 16us}});
    CHECK(run.delivered == Times{{'a', 66us}, {'b', 74us}, {'c', 66us}});
}

TEST_CASE("network: a small message does not overtake the large one before it in its lane") {
    Run run(gigabit_star(2));
    const Message large{.name = 'a', .from = 0, .to = 1, .size = 1000_B};
    const Message empty{.name = 'b', .from = 0, .to = 1, .size = 0_B};
    const Message small{.name = 'c', .from = 0, .to = 1, .size = 1_B};
    run.send(large);
    run.send(empty);
    run.send(small);
    run.receive({large, empty, small});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}, {'b', 8us}, {'c', 8us + 8ns}});
    CHECK(run.delivered == Times{{'a', 58us}, {'b', 58us}, {'c', 58us + 8ns}});
}

TEST_CASE(
    "network: of messages that arrive at one picosecond, none takes another out of its lane") {
    // Without bytes, and in one instant: two by rendezvous, an eager one, which arrives first, and
    // one that waits in the lane for a receiver of its own. Messages of other lanes come between.
    Simulation simulation;
    Network network(simulation, make_star(3, {1_Gbps, 1us}, {1_Gbps, 1us}));
    int received = 0;
    const auto send = [&](Protocol protocol, int to) -> Task<> {
        co_await Send(network, 0, to, 1, 0_B, protocol);
    };
    const auto receive = [&](Duration at, int count) -> Task<> {
        co_await simulation.sleep(at);
        for (int i = 0; i < count; ++i) {
            co_await Receive(network, 1, 0, 1, Protocol::rendezvous);
            ++received;
        }
    };
    const auto beside = [&]() -> Task<> {
        co_await simulation.sleep(3us);
        co_await Send(network, 0, 2, 1, 0_B, Protocol::eager);
        co_await Send(network, 0, 2, 1, 0_B, Protocol::eager);
    };
    Processes processes(simulation);
    processes.spawn("a", receive(0us, 1));
    processes.spawn("b", receive(0us, 1));
    processes.spawn("1", send(Protocol::rendezvous, 1));
    processes.spawn("2", send(Protocol::rendezvous, 1));
    processes.spawn("3", send(Protocol::eager, 1));
    processes.spawn("4", send(Protocol::rendezvous, 1));
    processes.spawn("beside", beside());
    processes.spawn("c", receive(10us, 2));
    simulation.run();
    CHECK(received == 4);
    CHECK(processes.finished());
}

TEST_CASE("network: the next message of a lane leaves when the one before it has drained") {
    Run run(gigabit_star(2));
    const Message first{.name = 'a', .from = 0, .to = 1, .size = 1000_B};
    const Message second{.name = 'b', .from = 0, .to = 1, .size = 1000_B, .at = 20us};
    run.send(first);
    run.send(second);  // the first has drained, but is not delivered: nothing is in the way
    run.receive({first, second});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}, {'b', 28us}});
    CHECK(run.delivered == Times{{'a', 58us}, {'b', 78us}});
}

TEST_CASE("network: the same stream between other nodes is another lane") {
    Run run(gigabit_star(4));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B});
    run.transfer({.name = 'c', .from = 3, .to = 1, .size = 1000_B});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 16us}, {'b', 16us}, {'c', 16us}});
}

// ---- overhead ----

TEST_CASE("network: overhead occupies the sender, message by message") {
    Run run(gigabit_star(4), 3us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 125_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 125_B});
    run.transfer({.name = 'c', .from = 3, .to = 1, .size = 125_B, .at = 1us});

    run.simulation.run();

    // Flows of 1 us start at 3, 6 and, from another sender, 4 us.
    CHECK(run.drained == Times{{'a', 4us}, {'b', 7us}, {'c', 5us}});
    CHECK(run.delivered == Times{{'a', 54us}, {'b', 57us}, {'c', 55us}});
}

TEST_CASE("network: overhead of an idle sender does not accumulate") {
    Run run(gigabit_star(3), 3us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 125_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 125_B, .at = 100us});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 4us}, {'b', 104us}});
}

TEST_CASE("network: a message without bytes costs its sender the overhead") {
    Run run(gigabit_star(2), 3us);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 0_B});

    run.simulation.run();

    CHECK(run.drained['a'] == 3us);
    CHECK(run.delivered['a'] == 53us);
}

// ---- eager and rendezvous ----

TEST_CASE("network: an eager message flows although no one waits for it") {
    Run run(gigabit_star(2));
    run.send({.name = 'a', .from = 0, .to = 1, .size = 1000_B, .protocol = Protocol::eager});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}});
    CHECK(run.network.messages_delivered() == 1);
    CHECK(run.now() == 58us);
}

TEST_CASE("network: a rendezvous message that no one waits for stays with its sender") {
    Run run(gigabit_star(3));
    run.send({.name = 'a', .from = 0, .to = 1, .size = 1000_B, .protocol = Protocol::rendezvous});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 1000_B});

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.drained == Times{{'b', 8us}});  // b has the whole link
    REQUIRE(run.simulation.waiting().size() == 1);
    CHECK(run.simulation.waiting()[0].what == "room on the way to node 1");
}

Task<> receive_late(Run& run, Duration at, Message message) {
    co_await run.simulation.sleep(at);
    co_await Receive(run.network, message.to, message.from, message.stream);
    run.delivered[message.name] = run.now();
}

TEST_CASE("network: a rendezvous message sets out when its receiver waits, an eager one at once") {
    Run run(gigabit_star(4));
    const Message eager{.name = 'e', .from = 0, .to = 1, .size = 1000_B};
    const Message meets{
        .name = 'r', .from = 2, .to = 3, .size = 1000_B, .protocol = Protocol::rendezvous};
    run.send(eager);
    run.send(meets);
    run.processes.spawn("receiver of e", receive_late(run, 100us, eager));
    run.processes.spawn("receiver of r", receive_late(run, 100us, meets));

    run.simulation.run();

    CHECK(run.drained == Times{{'e', 8us}, {'r', 108us}});
    CHECK(run.delivered == Times{{'e', 100us}, {'r', 158us}});
}

TEST_CASE("network: a rendezvous message pays its overhead when it sets out") {
    Run run(gigabit_star(2), 3us);
    const Message meets{
        .name = 'r', .from = 0, .to = 1, .size = 1000_B, .protocol = Protocol::rendezvous};
    run.send(meets);
    run.processes.spawn("receiver", receive_late(run, 100us, meets));

    run.simulation.run();

    CHECK(run.drained['r'] == 111us);
}

TEST_CASE("network: a receiver takes in one rendezvous message of a lane at a time") {
    Run run(gigabit_star(2));
    const Message first{
        .name = 'a', .from = 0, .to = 1, .size = 1000_B, .protocol = Protocol::rendezvous};
    const Message second{
        .name = 'b', .from = 0, .to = 1, .size = 1000_B, .protocol = Protocol::rendezvous};
    run.send(first);
    run.send(second);
    run.receive({first, second});

    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}, {'b', 66us}});
    CHECK(run.delivered == Times{{'a', 58us}, {'b', 116us}});
}

// ---- senders and receivers that are gone ----

TEST_CASE("network: a message goes on when its sender no longer listens") {
    Run run(gigabit_star(2));
    run.receive({{.name = 'a', .from = 0, .to = 1, .size = 1000_B}});
    {
        Join drained{1};
        const MessageId message = run.network.send(0, 1, 1, 1000_B, Protocol::eager, drained);
        run.simulation.run(Time{4us});
        run.network.forget(message);
    }

    run.simulation.run();

    CHECK(run.delivered == Times{{'a', 58us}});
}

TEST_CASE("network: a sender that dies half-way leaves its message to the receiver") {
    Run run(gigabit_star(2));
    const Message message{.name = 'a', .from = 0, .to = 1, .size = 1000_B};
    run.receive({message});
    std::optional<Pending<>> sender =
        run.simulation.start(make_process("test"), send_at(run, message));
    run.simulation.run(Time{4us});

    sender.reset();
    run.simulation.run();

    CHECK(run.drained.empty());
    CHECK(run.delivered == Times{{'a', 58us}});
    CHECK(run.network.traffic(0).sent == 1000_B);
}

TEST_CASE("network: a sender that dies before its turn leaves its message in the lane") {
    Run run(gigabit_star(2));
    const Message first{.name = 'a', .from = 0, .to = 1, .size = 1000_B};
    const Message second{.name = 'b', .from = 0, .to = 1, .size = 1000_B};
    const Message third{.name = 'c', .from = 0, .to = 1, .size = 1000_B};
    run.send(first);
    run.receive({first, second, third});
    run.simulation.run(Time{1us});
    std::optional<Pending<>> sender =
        run.simulation.start(make_process("test"), send_at(run, second));
    run.send(third);
    run.simulation.run(Time{2us});

    sender.reset();
    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}, {'c', 24us}});
    CHECK(run.delivered == Times{{'a', 58us}, {'b', 66us}, {'c', 74us}});
}

TEST_CASE("network: a message whose receiver dies half-way is kept for the next receive") {
    Run run(gigabit_star(2));
    const Message message{.name = 'a', .from = 0, .to = 1, .size = 1000_B};
    run.send(message);
    std::optional<Pending<>> receiver =
        run.simulation.start(make_process("test"), receive_in_order(run, {message}));
    run.simulation.run(Time{20us});

    receiver.reset();
    run.processes.spawn("later", receive_late(run, 80us, message));
    run.simulation.run();

    CHECK(run.drained == Times{{'a', 8us}});
    CHECK(run.delivered == Times{{'a', 100us}});
}

TEST_CASE("network: a rendezvous message waits again after its receiver died before it was sent") {
    Run run(gigabit_star(2));
    const Message message{.name = 'a',
                          .from = 0,
                          .to = 1,
                          .size = 1000_B,
                          .at = 10us,
                          .protocol = Protocol::rendezvous};
    run.send(message);
    std::optional<Pending<>> receiver =
        run.simulation.start(make_process("test"), receive_in_order(run, {message}));
    run.simulation.run(Time{5us});

    receiver.reset();
    run.processes.spawn("later", receive_late(run, 95us, message));
    run.simulation.run();

    CHECK(run.drained == Times{{'a', 108us}});
}

TEST_CASE(
    "network: the message behind one in flight does not start for that one's second receiver") {
    Run run(gigabit_star(2));
    const Message first{
        .name = 'a', .from = 0, .to = 1, .size = 1000_B, .protocol = Protocol::rendezvous};
    const Message second{
        .name = 'b', .from = 0, .to = 1, .size = 1000_B, .protocol = Protocol::rendezvous};
    run.send(first);
    run.send(second);
    std::optional<Pending<>> receiver =
        run.simulation.start(make_process("test"), receive_in_order(run, {first}));
    run.simulation.run(Time{10us});  // a has drained, and is delivered at 58 us

    receiver.reset();
    run.receive({first});
    run.simulation.run();

    CHECK(run.delivered == Times{{'a', 58us}});
    CHECK(run.drained == Times{{'a', 8us}});  // no one ever waits for b
}

TEST_CASE("network: a run can be dropped with messages held, queued, flowing and on their way") {
    Run run(gigabit_star(4));
    const Message meets{
        .name = 'r', .from = 2, .to = 3, .size = 1000_B, .protocol = Protocol::rendezvous};
    run.send(meets);
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1_B, .stream = 1});
    run.transfer({.name = 'b', .from = 0, .to = 1, .size = 9000_B, .stream = 2});
    run.send({.name = 'c', .from = 0, .to = 1, .size = 9000_B, .stream = 2});
    run.simulation.run(Time{20us});

    run.processes.drop();
    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.simulation.waiting().empty());
    CHECK(run.network.flows_in_flight() == 0);
    CHECK(run.network.messages_delivered() == 3);
}

// ---- what is counted ----

TEST_CASE("network: traffic counts what has drained as sent and what has arrived as received") {
    Run run(gigabit_star(3));
    run.transfer({.name = 'a', .from = 0, .to = 1, .size = 1000_B});
    run.transfer({.name = 'b', .from = 0, .to = 2, .size = 2000_B});

    run.simulation.run(Time{20us});
    CHECK(run.network.traffic(0).sent == 1000_B);
    CHECK(run.network.traffic(1).received == 0_B);
    CHECK(run.network.messages_delivered() == 0);

    run.simulation.run();
    CHECK(run.network.traffic(0).sent == 3000_B);
    CHECK(run.network.traffic(0).received == 0_B);
    CHECK(run.network.traffic(1).received == 1000_B);
    CHECK(run.network.traffic(2).received == 2000_B);
    CHECK(run.network.messages_delivered() == 2);
}

TEST_CASE(
    "network: a message to oneself, to nowhere or of a negative size is a programming error") {
    Run run(gigabit_star(2));
    Join drained{1};

    CHECK_THROWS_AS(run.network.send(1, 1, 1, 8_B, Protocol::eager, drained), LogicError);
    CHECK_THROWS_AS(run.network.send(0, 2, 1, 8_B, Protocol::eager, drained), LogicError);
    CHECK_THROWS_AS(run.network.send(-1, 1, 1, 8_B, Protocol::eager, drained), LogicError);
    CHECK_THROWS_AS(run.network.send(0, 1, 1, Bytes{-1}, Protocol::eager, drained), LogicError);
}

}  // namespace
}  // namespace paceline::network_test
