#include "sim/engine/channel.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::channel_test {
namespace {

using namespace std::chrono_literals;

struct Run {
    Simulation simulation;
    std::string log;
    Channel<int> channel;
    Processes processes{simulation};
};

Task<> get(Run& run, char name) {
    const int value = co_await run.channel.get();
    run.log += name + std::to_string(value) + " ";
}

Task<> get_many(Run& run, char name, int count) {
    for (int i = 0; i < count; ++i) co_await get(run, name);
}

Task<> put_after(Run& run, Duration wait, int value) {
    co_await run.simulation.sleep(wait);
    run.channel.put(value);
    run.log += "put ";
}

/// A getter that the test can cancel.
Pending<> start_getter(Run& run, char name) {
    return run.simulation.start(make_process("test"), get(run, name));
}

void cancel(Pending<> getter) {
    static_cast<void>(getter);
}

TEST_CASE("channel: values that were put before come out first in first out, without a wait") {
    Run run;
    run.channel.put(1);
    run.channel.put(2);
    run.channel.put(3);
    run.processes.spawn("p", get_many(run, 'p', 3));
    run.processes.spawn("q", get_many(run, 'q', 1));

    run.simulation.run();

    CHECK(run.log == "p1 p2 p3 ");
    CHECK(run.channel.size() == 0);
    CHECK_FALSE(run.processes.finished());
}

TEST_CASE("channel: a getter waits for a value, and put does not run it") {
    Run run;
    run.processes.spawn("p", get(run, 'p'));
    run.processes.spawn("q", put_after(run, 5us, 7));

    run.simulation.run();

    CHECK(run.log == "put p7 ");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("channel: values go to getters in the order in which they began to wait") {
    Run run;
    run.processes.spawn("p", get(run, 'p'));
    run.processes.spawn("q", get(run, 'q'));
    run.processes.spawn("r", get(run, 'r'));
    run.simulation.run();

    run.channel.put(1);
    run.channel.put(2);
    run.channel.put(3);
    run.simulation.run();

    CHECK(run.log == "p1 q2 r3 ");
}

TEST_CASE("channel: a value is handed to the one that waits, and a latecomer does not take it") {
    Run run;
    const Pending<> first = start_getter(run, 'p');
    run.channel.put(1);
    const Pending<> latecomer = start_getter(run, 'q');

    run.channel.put(2);
    run.simulation.run();

    CHECK(run.log == "p1 q2 ");
}

TEST_CASE("channel: its size is the number of values that nobody was handed") {
    Run run;
    const Pending<> getter = start_getter(run, 'p');

    run.channel.put(1);
    const auto while_handed = run.channel.size();
    run.channel.put(2);
    run.channel.put(3);

    CHECK(while_handed == 0);
    CHECK(run.channel.size() == 2);
}

TEST_CASE("channel: a getter that is cancelled while it waits takes nothing") {
    Run run;
    Pending<> cancelled = start_getter(run, 'x');
    const Pending<> patient = start_getter(run, 'p');

    cancel(std::move(cancelled));
    run.channel.put(1);
    run.simulation.run();

    CHECK(run.log == "p1 ");
    CHECK(run.channel.size() == 0);
}

TEST_CASE("channel: a getter that is cancelled with a value in hand gives it back") {
    Run run;
    Pending<> cancelled = start_getter(run, 'x');
    run.channel.put(1);

    cancel(std::move(cancelled));

    CHECK(run.channel.size() == 1);
    const Pending<> getter = start_getter(run, 'p');
    CHECK(run.log == "p1 ");
}

TEST_CASE("channel: a value that is given back comes before the values put later") {
    Run run;
    Pending<> cancelled = start_getter(run, 'x');
    run.channel.put(1);
    run.channel.put(2);

    cancel(std::move(cancelled));
    const Pending<> getter = run.simulation.start(make_process("test"), get_many(run, 'p', 2));

    CHECK(run.log == "p1 p2 ");
}

TEST_CASE("channel: a value that is given back goes to the next one that waits") {
    Run run;
    Pending<> cancelled = start_getter(run, 'x');
    const Pending<> next = start_getter(run, 'p');
    run.channel.put(1);

    cancel(std::move(cancelled));
    run.simulation.run();

    CHECK(run.log == "p1 ");
    CHECK(run.channel.size() == 0);
}

TEST_CASE("channel: a value passes on through any number of cancelled getters") {
    Run run;
    std::vector<Pending<>> cancelled;
    cancelled.reserve(10);
    for (int i = 0; i < 10; ++i) cancelled.push_back(start_getter(run, 'x'));
    const Pending<> last = start_getter(run, 'p');
    run.channel.put(1);

    for (Pending<>& getter : cancelled) cancel(std::move(getter));
    run.simulation.run();

    CHECK(run.log == "p1 ");
}

TEST_CASE("channel: values that several cancelled getters give back come out first in first out") {
    Run run;
    run.processes.spawn("x", get(run, 'x'));
    run.processes.spawn("y", get(run, 'y'));
    run.simulation.run();
    run.channel.put(1);
    run.channel.put(2);
    run.channel.put(3);

    run.processes.drop();
    run.processes.spawn("p", get_many(run, 'p', 3));
    run.simulation.run();

    CHECK(run.log == "p1 p2 p3 ");
}

TEST_CASE("channel: values come out first in first out, whichever cancelled getter was last") {
    Run run;
    Pending<> first = start_getter(run, 'x');
    Pending<> second = start_getter(run, 'y');
    Pending<> third = start_getter(run, 'z');
    for (int value = 1; value <= 4; ++value) run.channel.put(value);

    cancel(std::move(second));
    cancel(std::move(third));
    cancel(std::move(first));
    const Pending<> getter = run.simulation.start(make_process("test"), get_many(run, 'p', 4));

    CHECK(run.log == "p1 p2 p3 p4 ");
}

TEST_CASE("channel: a getter that has its value keeps it when its process is dropped later") {
    Run run;
    run.channel.put(1);
    run.processes.spawn("p", get_many(run, 'p', 2));
    run.simulation.run();

    run.processes.drop();

    CHECK(run.log == "p1 ");
    CHECK(run.channel.size() == 0);
}

Task<> relay(Channel<std::unique_ptr<int>>& from, Channel<std::unique_ptr<int>>& to, int count) {
    for (int i = 0; i < count; ++i) {
        std::unique_ptr<int> parcel = co_await from.get();
        ++*parcel;
        to.put(std::move(parcel));
    }
}

TEST_CASE("channel: values need not be copied") {
    Simulation simulation;
    Channel<std::unique_ptr<int>> first;
    Channel<std::unique_ptr<int>> second;
    Channel<std::unique_ptr<int>> third;
    Processes processes(simulation);
    processes.spawn("p", relay(first, second, 1000));
    processes.spawn("q", relay(second, third, 1000));

    for (int i = 0; i < 1000; ++i) first.put(std::make_unique<int>(i));
    simulation.run();

    CHECK(third.size() == 1000);
    CHECK(processes.finished());
}

}  // namespace
}  // namespace paceline::channel_test
