// LaneTable that are closed, and hosts that leave and return: what is taken back, what is
// discarded, what is counted, and that nothing stays.
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network.hpp"
#include "sim/network/network_part.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::network_lives_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// 1000 bytes take 8 us on a gigabit link; from host to host of a star it is 50 us more.
const Link gigabit{1_Gbps, 25us};
constexpr Stream stream = 1;

/// A network whose senders and receivers are joins that the test asks.
struct Run {
    Simulation simulation;
    Network network;
    NetworkObserver observer;
    std::deque<Join> joins{};
    std::vector<Duration> begun{};
    std::vector<Bytes> drained{};
    std::vector<bool> arrived{};  // and whether it was lost

    explicit Run(int hosts, const Transport& transport = {}, const Link& link = gigabit)
        : network(simulation, make_star(hosts, link, link), transport) {
        observer.begins = [this](std::uint32_t, const NetworkObserver::Message&) {
            begun.push_back(now());
        };
        observer.drains = [this](std::uint32_t, Bytes sent) { drained.push_back(sent); };
        observer.arrives = [this](std::uint32_t, bool lost) { arrived.push_back(lost); };
        network.observe(&observer);
    }

    [[nodiscard]] Duration now() const { return simulation.now().time_since_epoch(); }
    /// Sends a message whose sender does not listen.
    void send(int from, int to, Bytes size, Protocol protocol = Protocol::eager,
              Stream on = stream) {
        network.forget(sent(from, to, size, protocol, on));
    }
    MessageId sent(int from, int to, Bytes size, Protocol protocol = Protocol::eager,
                   Stream on = stream) {
        return network.send(from, to, on, size, protocol, joins.emplace_back(1));
    }
    const Join& receive(int to, int from, Stream on = stream) {
        network.receive(to, from, on, joins.emplace_back(1));
        return joins.back();
    }
    void run_to(Duration at) { simulation.run(Time{at}); }
    RunEnd run() { return simulation.run(); }
    [[nodiscard]] bool empty() const {
        return network.messages() == 0 && network.lanes() == 0 && network.flows_in_flight() == 0;
    }
};

// ---- rendezvous behind eager ----

TEST_CASE("network: a rendezvous message behind an eager one waits for a receiver of its own") {
    Run run(2);
    run.receive(1, 0);
    run.send(0, 1, 1000_B, Protocol::eager);
    run.send(0, 1, 1000_B, Protocol::rendezvous);

    run.run();
    const std::vector<Duration> with_one_receiver = run.begun;
    run.receive(1, 0);
    run.run();

    CHECK(with_one_receiver == std::vector<Duration>{0us});
    CHECK(run.begun == std::vector<Duration>{0us, 58us});
    CHECK(run.empty());
}

TEST_CASE("network: a rendezvous message behind an eager one sets out once two receivers wait") {
    Run run(2);
    run.send(0, 1, 1000_B, Protocol::eager);
    run.send(0, 1, 1000_B, Protocol::rendezvous);
    run.receive(1, 0);
    run.run_to(10us);  // the first has drained, and is delivered at 58 us
    run.receive(1, 0);

    run.run();

    CHECK(run.begun == std::vector<Duration>{0us, 10us});
    CHECK(run.empty());
}

// ---- close ----

TEST_CASE("network: closing a lane takes back what does not flow, and discards the rest") {
    Run run(2);
    run.send(0, 1, 1000_B);  // drains at 8, arrives at 58 us
    run.send(0, 1, 1000_B);  // flows from 8 to 16 us
    run.send(0, 1, 1000_B);
    run.run_to(10us);

    run.network.close_lane(1, 0, stream);
    const std::size_t left = run.network.messages();
    const Join& receiver = run.receive(1, 0);
    run.run();

    CHECK(left == 2);
    CHECK_FALSE(receiver.complete());
    CHECK(run.begun == std::vector<Duration>{0us, 8us});
    CHECK(run.arrived == std::vector<bool>{false, false});
    CHECK(run.network.traffic(0).sent == 2000_B);
    CHECK(run.network.traffic(1).received == 2000_B);
    CHECK(run.network.messages() == 0);
    CHECK(run.network.lanes() == 1);  // that of the receiver
}

TEST_CASE("network: a lane that is closed begins anew") {
    Run run(2);
    run.send(0, 1, 1000_B);
    run.run_to(58us);  // it has arrived
    run.send(0, 1, 1000_B, Protocol::rendezvous);
    run.network.close_lane(1, 0, stream);
    const bool gone = run.empty() && !run.network.has_arrived(1, 0, stream);

    run.send(0, 1, 2000_B, Protocol::rendezvous);
    const Join& receiver = run.receive(1, 0);
    run.run();

    CHECK(gone);
    CHECK(receiver.complete());
    CHECK(run.drained == std::vector<Bytes>{1000_B, 2000_B});
    CHECK(run.empty());
}

TEST_CASE("network: a new message of a closed lane answers a receive, and an old one does not") {
    Run run(2);
    run.send(0, 1, 1000_B);
    run.run_to(4us);
    run.network.close_lane(1, 0, stream);
    run.send(0, 1, 1000_B);  // behind the one that flows to its end
    const Join& receiver = run.receive(1, 0);

    run.run_to(60us);
    const bool by_the_old_one = receiver.complete();
    run.run_to(66us);

    CHECK_FALSE(by_the_old_one);
    CHECK(receiver.complete());
    CHECK(run.empty());
}

TEST_CASE("network: closing a stream among hosts leaves other streams and other hosts alone") {
    Run run(4);
    for (int from = 0; from < 4; ++from)
        for (int to = 0; to < 4; ++to) {
            if (from == to) continue;
            run.send(from, to, 1_B, Protocol::rendezvous, 1);
            run.send(from, to, 1_B, Protocol::rendezvous, 2);
        }

    run.network.close(1, std::vector{0, 2, 3});

    CHECK(run.network.messages() == 12 + 6);
    CHECK(run.network.lanes() == 12 + 6);
    run.network.close(1, std::vector{0, 1, 2, 3});
    run.network.close(2, std::vector{0, 1, 2, 3});
    CHECK(run.empty());
    CHECK(run.run() == RunEnd::idle);
    CHECK(run.begun.empty());
}

TEST_CASE("network: a part closes the lanes of its own hosts") {
    Run run(4);
    run.send(0, 1, 1_B, Protocol::rendezvous);
    run.send(2, 3, 1_B, Protocol::rendezvous);

    NetworkPart(run.network, 2).close(stream, std::vector{0, 1});

    CHECK(run.network.messages() == 1);
    NetworkPart(run.network, 0).close_lane(1, 0, stream);
    CHECK(run.empty());
}

TEST_CASE("network: closing a lane on which somebody waits is a programming error") {
    Run run(3);
    run.sent(0, 1, 1000_B);
    run.receive(2, 0);

    CHECK_THROWS_AS(run.network.close_lane(1, 0, stream), LogicError);
    CHECK_THROWS_AS(run.network.close_lane(2, 0, stream), LogicError);
    CHECK_THROWS_AS(run.network.close(stream, std::vector{1, 0}), LogicError);
}

TEST_CASE("network: overhead that is taken back is not charged to the sender's next messages") {
    Run run(4, {.overhead = 3us});
    run.send(0, 1, 125_B);                               // 0 to 3 us
    run.send(0, 2, 125_B, Protocol::eager, stream + 1);  // 3 to 6 us
    run.send(0, 3, 125_B);                               // 6 to 9 us
    run.run_to(4us);

    run.network.close_lane(2, 0, stream + 1);
    run.send(0, 1, 125_B);
    run.run();

    CHECK(run.begun == std::vector<Duration>{3us, 7us, 10us});
    CHECK(run.network.messages() == 0);
}

TEST_CASE("network: the message that has its turn keeps it when one behind it is taken back") {
    Run run(4, {.overhead = 3us});
    run.send(0, 1, 125_B);
    run.send(0, 2, 125_B, Protocol::eager, stream + 1);
    run.send(0, 3, 125_B);
    run.run_to(1us);

    run.network.close_lane(2, 0, stream + 1);
    run.run();

    CHECK(run.begun == std::vector<Duration>{3us, 6us});
}

TEST_CASE("network: a sender whose only overhead is taken back is free") {
    Run run(2, {.overhead = 3us});
    run.send(0, 1, 125_B);
    run.run_to(1us);

    run.network.close_lane(1, 0, stream);
    run.send(0, 1, 125_B);
    run.run();

    CHECK(run.begun == std::vector<Duration>{4us});
}

TEST_CASE("network: a message that waits for slow start is taken back") {
    Run run(2, {.first_window = 100_B}, {1_Gbps, 2500us});
    run.send(0, 1, 10_MB);
    run.run_to(1us);

    run.network.close_lane(1, 0, stream);

    CHECK(run.empty());
    CHECK(run.run() == RunEnd::idle);
    CHECK(run.now() == 1us);
}

// ---- hosts that leave ----

TEST_CASE("network: what a dead host has not begun to send never begins, and its flows stop") {
    Run run(3);
    run.sent(0, 1, 1000_B);  // drains at 8, is on its way at 12 us
    run.sent(0, 1, 1000_B);  // half of it has flowed by 12 us
    run.sent(0, 1, 1000_B);
    run.sent(0, 2, 1000_B, Protocol::rendezvous);
    const Join& receiver = run.receive(1, 0);
    run.run_to(12us);

    run.network.host_leaves(0);
    run.run();

    CHECK_FALSE(receiver.complete());
    CHECK(run.begun == std::vector<Duration>{0us, 8us});
    CHECK(run.drained == std::vector<Bytes>{1000_B, 500_B});
    CHECK(run.arrived == std::vector<bool>{true, true});
    CHECK(run.network.traffic(0).sent == 1500_B);
    CHECK(run.network.traffic(1).received == 0_B);
    CHECK(run.network.messages_delivered() == 0);
    CHECK(run.network.messages() == 0);
    CHECK(run.network.lanes() == 1);  // that of the receiver
}

TEST_CASE("network: what had arrived from a dead host stays with its receiver") {
    Run run(2);
    run.send(0, 1, 1000_B);
    run.run_to(60us);

    run.network.host_leaves(0);

    CHECK(run.network.has_arrived(1, 0, stream));
    CHECK(run.receive(1, 0).complete());
    CHECK(run.empty());
}

TEST_CASE("network: a receiver that outlives a sender takes the first message of its next life") {
    Run run(2);
    run.send(0, 1, 1000_B, Protocol::rendezvous);
    const Join& receiver = run.receive(1, 0);
    run.run_to(10us);  // the message has drained

    run.network.host_leaves(0);
    run.network.host_returns(0);
    run.send(0, 1, 2000_B, Protocol::rendezvous);
    run.run_to(60us);
    const bool by_the_old_one = receiver.complete();
    run.run();

    CHECK_FALSE(by_the_old_one);
    CHECK(receiver.complete());
    CHECK(run.begun == std::vector<Duration>{0us, 10us});
    CHECK(run.empty());
}

TEST_CASE("network: the overhead of a dead sender is not charged to its next life") {
    Run run(2, {.overhead = 1ms});
    for (int i = 0; i < 500; ++i) run.send(0, 1, 1_B, Protocol::eager, static_cast<Stream>(i));
    run.run_to(10ms + 1us);

    run.network.host_leaves(0);
    run.network.host_returns(0);
    run.send(0, 1, 1_B, Protocol::eager, 1000);
    run.run();

    CHECK(run.begun.size() == 11);
    CHECK(run.begun.back() == 11ms + 1us);
}

TEST_CASE("network: messages to a host that is away are discarded, also if it returns meanwhile") {
    Run run(2);
    run.send(0, 1, 1000_B);  // arrives at 58 us
    run.run_to(20us);
    run.network.host_leaves(1);
    run.send(0, 1, 1000_B);  // arrives at 78 us
    run.run_to(30us);
    run.network.host_returns(1);
    const Join& receiver = run.receive(1, 0);
    run.send(0, 1, 1000_B);  // arrives at 88 us

    run.run_to(80us);
    const bool by_an_old_one = receiver.complete();
    run.run();

    CHECK_FALSE(by_an_old_one);
    CHECK(receiver.complete());
    CHECK(run.network.traffic(1).received == 3000_B);
    CHECK(run.empty());
}

TEST_CASE("network: what a host had not taken is gone after its death") {
    Run run(2);
    run.send(0, 1, 1000_B);
    run.run_to(60us);

    run.network.host_leaves(1);
    run.network.host_returns(1);

    CHECK_FALSE(run.network.has_arrived(1, 0, stream));
    CHECK(run.empty());
}

TEST_CASE("network: a message that is held for a dead host never sets out, until it is forgotten") {
    Run run(2);
    const MessageId held = run.sent(0, 1, 1000_B, Protocol::rendezvous);
    run.send(0, 1, 1000_B, Protocol::rendezvous, 2);  // nobody listens to this one
    run.network.host_leaves(1);
    const MessageId late = run.sent(0, 1, 1000_B, Protocol::rendezvous, 3);
    const std::size_t stranded = run.network.messages();
    run.network.host_returns(1);
    const Join& receiver = run.receive(1, 0);
    run.run();
    const bool answered = receiver.complete();
    run.send(0, 1, 1000_B, Protocol::rendezvous);
    run.run();

    CHECK(stranded == 2);
    CHECK_FALSE(answered);
    CHECK(receiver.complete());  // by the message of its own life
    CHECK(run.begun.size() == 1);
    CHECK(run.network.lanes() == 0);
    CHECK(run.network.messages() == 2);
    run.network.forget(held);
    run.network.forget(late);
    CHECK(run.empty());
}

TEST_CASE("network: stranded messages of a host that dies in turn are taken back") {
    Run run(2);
    run.sent(0, 1, 1000_B, Protocol::rendezvous);
    run.network.host_leaves(1);

    run.network.host_leaves(0);

    CHECK(run.empty());
}

TEST_CASE("network: eager messages behind one that is stranded go on into the void") {
    Run run(2);
    run.sent(0, 1, 1000_B, Protocol::rendezvous);
    run.send(0, 1, 1000_B);
    run.send(0, 1, 1000_B, Protocol::rendezvous);
    run.send(0, 1, 1000_B);

    run.network.host_leaves(1);
    run.run();

    CHECK(run.begun == std::vector<Duration>{0us, 8us});
    CHECK(run.network.messages() == 1);  // the first, whose sender still listens
    CHECK(run.network.lanes() == 0);
}

TEST_CASE("network: both ends of a message may die") {
    for (const bool sender_first : {false, true}) {
        Run run(2);
        run.send(0, 1, 1000_B);
        run.send(0, 1, 1000_B);
        run.run_to(4us);

        run.network.host_leaves(sender_first ? 0 : 1);
        run.network.host_leaves(sender_first ? 1 : 0);
        run.run();

        CHECK(run.drained == std::vector<Bytes>{500_B});
        CHECK(run.arrived == std::vector<bool>{true});
        CHECK(run.empty());
    }
}

TEST_CASE("network: lives begin and end in turns, and nobody waits at a host that leaves") {
    Run run(2);
    Join drained{1};

    CHECK_THROWS_AS(run.network.host_returns(0), LogicError);
    CHECK_THROWS_AS(run.network.host_leaves(2), LogicError);
    run.network.host_leaves(0);
    CHECK(run.network.is_away(0));
    CHECK_THROWS_AS(run.network.host_leaves(0), LogicError);
    CHECK_THROWS_AS(run.network.send(0, 1, 1, 8_B, Protocol::eager, drained), LogicError);
    run.receive(1, 0);
    CHECK_THROWS_AS(run.network.host_leaves(1), LogicError);
}

// ---- what stays ----

TEST_CASE("network: abandoned exchanges leave nothing behind") {
    Run run(3);
    const std::vector<int> hosts{0, 1, 2};
    for (Stream attempt = 0; attempt < 1000; ++attempt) {
        run.send(0, 1, 1000_B, Protocol::rendezvous, attempt);
        run.send(1, 2, 1000_B, Protocol::eager, attempt);
        run.send(1, 2, 1000_B, Protocol::eager, attempt);
        run.run_to(run.now() + 20us);
        run.network.host_leaves(2);
        run.network.close(attempt, hosts);
        run.network.host_returns(2);
        REQUIRE(run.network.messages() <= 8);  // those on their way: 4 attempts of 20 us
        REQUIRE(run.network.lanes() <= 4);
    }
    run.run();
    CHECK(run.empty());
}

}  // namespace
}  // namespace paceline::network_lives_test
