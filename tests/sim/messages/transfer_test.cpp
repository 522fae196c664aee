#include "sim/messages/transfer.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::transfer_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// 1000 bytes drain in 8 us and are delivered 50 us later.
const Link gigabit{1_Gbps, 25us};

struct Run {
    Simulation simulation;
    Network network{simulation, make_star(3, gigabit, gigabit)};
    std::string log;
    Processes processes{simulation};

    void note(const std::string& what) {
        log += what + "@" + to_string(simulation.now().time_since_epoch()) + " ";
    }
};

Task<> send(Run& run, int from, int to, Bytes size, Protocol protocol = Protocol::eager) {
    co_await Send(run.network, from, to, 1, size, protocol);
    run.note("sent");
}

Task<> receive(Run& run, int to, int from, Duration at = {}) {
    co_await run.simulation.sleep(at);
    co_await Receive(run.network, to, from, 1);
    run.note("received");
}

Task<> exchange(Run& run, int self, int other, Bytes size, Duration at = {}) {
    co_await run.simulation.sleep(at);
    co_await Exchange(run.network, self, other, size, other, 1, Protocol::rendezvous);
    run.note("exchanged " + std::to_string(self));
}

TEST_CASE("transfer: a send ends when the message has drained, a receive when it is delivered") {
    Run run;
    run.processes.spawn("sender", send(run, 0, 1, 1000_B));
    run.processes.spawn("receiver", receive(run, 1, 0));

    run.simulation.run();

    CHECK(run.log == "sent@8us received@58us ");
}

TEST_CASE("transfer: a receive of a message that has arrived does not wait") {
    Run run;
    run.processes.spawn("sender", send(run, 0, 1, 1000_B));
    run.processes.spawn("receiver", receive(run, 1, 0, 90us));

    run.simulation.run();

    CHECK(run.log == "sent@8us received@90us ");
}

TEST_CASE("transfer: an exchange ends when its own message has drained and the other has arrived") {
    Run run;
    run.processes.spawn("0", exchange(run, 0, 1, 10'000_B));  // 80 us to drain
    run.processes.spawn("1", exchange(run, 1, 0, 1000_B));

    run.simulation.run();

    // Node 0 has the small message at 58 us, and its own has drained at 80 us.
    CHECK(run.log == "exchanged 0@80us exchanged 1@130us ");
}

Task<> pass_on(Run& run) {
    co_await Exchange(run.network, 0, 1, 1000_B, 2, 1, Protocol::rendezvous);
    run.note("passed on");
}

TEST_CASE("transfer: an exchange can send to one node and receive from another") {
    Run run;
    run.processes.spawn("0", pass_on(run));
    run.processes.spawn("1", receive(run, 1, 0));
    run.processes.spawn("2", send(run, 2, 0, 500_B));

    run.simulation.run();

    CHECK(run.log == "sent@4us passed on@54us received@58us ");
}

TEST_CASE("transfer: a late partner keeps both ends of an exchange waiting") {
    Run run;
    run.processes.spawn("0", exchange(run, 0, 1, 1000_B));
    run.processes.spawn("1", exchange(run, 1, 0, 1000_B, 100us));

    run.simulation.run();

    CHECK(run.log == "exchanged 0@158us exchanged 1@158us ");
}

TEST_CASE("transfer: a process that waits forever is named, and what it waits for") {
    Run run;
    run.processes.spawn("s", send(run, 0, 1, 8_B, Protocol::rendezvous));
    run.processes.spawn("r", receive(run, 1, 2));
    run.processes.spawn("x", exchange(run, 2, 0, 8_B));

    const RunEnd end = run.simulation.run();

    const std::vector<Waiting> waiting = run.simulation.waiting();
    CHECK(end == RunEnd::idle);
    REQUIRE(waiting.size() == 3);
    CHECK(waiting[0].process + ": " + waiting[0].what == "s: room on the way to node 1");
    CHECK(waiting[1].process + ": " + waiting[1].what == "r: a message from node 2");
    CHECK(waiting[2].process + ": " + waiting[2].what == "x: an exchange with node 0");
}

TEST_CASE("transfer: an exchange dropped while both messages are under way leaves them under way") {
    Run run;
    run.processes.spawn("1", exchange(run, 1, 0, 1000_B));
    std::optional<Pending<>> dropped =
        run.simulation.start(make_process("test"), exchange(run, 0, 1, 1000_B));
    run.simulation.run(Time{4us});

    dropped.reset();
    run.simulation.run();
    run.processes.spawn("0", receive(run, 0, 1));
    run.simulation.run();

    CHECK(run.log == "exchanged 1@58us received@58us ");
}

TEST_CASE("transfer: an exchange dropped after its message has drained no longer receives") {
    Run run;
    run.processes.spawn("1", exchange(run, 1, 0, 1000_B));
    std::optional<Pending<>> dropped =
        run.simulation.start(make_process("test"), exchange(run, 0, 1, 1000_B));
    run.simulation.run(Time{20us});

    dropped.reset();
    run.simulation.run();

    CHECK(run.log == "exchanged 1@58us ");
    CHECK(run.network.traffic(0).received == 1000_B);
}

TEST_CASE("transfer: an exchange dropped after it has received is not notified of its draining") {
    Run run;
    run.processes.spawn("1", exchange(run, 1, 0, 1000_B));
    std::optional<Pending<>> dropped =
        run.simulation.start(make_process("test"), exchange(run, 0, 1, 10'000_B));
    run.simulation.run(Time{70us});

    dropped.reset();
    run.simulation.run();

    CHECK(run.log == "exchanged 1@130us ");
    CHECK(run.network.traffic(0).sent == 10'000_B);
}

Task<> receive_and_drop(Run& run, std::optional<Pending<>>& other) {
    co_await Receive(run.network, 1, 0, 1);
    run.note("received");
    other.reset();
}

TEST_CASE("transfer: a receive that is dropped in the instant of its delivery does not resume") {
    Run run;
    std::optional<Pending<>> other;
    run.processes.spawn("dropper", receive_and_drop(run, other));
    run.simulation.run();
    other = run.simulation.start(make_process("test"), receive(run, 2, 0));
    run.processes.spawn("to dropper", send(run, 0, 1, 0_B));
    run.processes.spawn("to other", send(run, 0, 2, 0_B));

    run.simulation.run();

    CHECK(run.log == "sent@0ps sent@0ps received@50us ");
}

}  // namespace
}  // namespace paceline::transfer_test
