#include "sim/engine/barrier.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::barrier_test {
namespace {

using namespace std::chrono_literals;

struct Run {
    explicit Run(int parties) : barrier(parties) {}

    Simulation simulation;
    std::string log;
    Barrier barrier;
    Processes processes{simulation};
};

Task<> meet(Run& run, char name, Duration wait = Duration::zero()) {
    if (wait > Duration::zero()) co_await run.simulation.sleep(wait);
    co_await run.barrier.arrive();
    run.log += name;
}

Task<> meet_often(Run& run, char name, Duration pace, int times) {
    for (int i = 0; i < times; ++i) co_await meet(run, name, pace);
}

/// An arrival that the test can cancel.
Pending<> start_arrival(Run& run, char name) {
    return run.simulation.start(make_process("test"), meet(run, name));
}

void cancel(Pending<> arrival) {
    static_cast<void>(arrival);
}

TEST_CASE("barrier: a party waits until all have arrived") {
    Run run(3);
    run.processes.spawn("p", meet(run, 'p', 5us));
    run.processes.spawn("q", meet(run, 'q', 2us));
    run.processes.spawn("r", meet(run, 'r', 9us));

    run.simulation.run(Time{8us});
    const std::string log_before_the_last = run.log;
    run.simulation.run();

    CHECK(log_before_the_last.empty());
    CHECK(run.log.size() == 3);
    CHECK(run.simulation.now() == Time{9us});
}

TEST_CASE("barrier: the last party goes on at once, and the others in order of arrival") {
    Run run(4);
    run.processes.spawn("p", meet(run, 'p', 5us));
    run.processes.spawn("q", meet(run, 'q', 2us));
    run.processes.spawn("r", meet(run, 'r', 9us));
    run.processes.spawn("s", meet(run, 's', 4us));

    run.simulation.run();

    CHECK(run.log == "rqsp");
}

TEST_CASE("barrier: it is used again and again, at the pace of the slowest") {
    Run run(3);
    run.processes.spawn("p", meet_often(run, 'p', 1us, 100));
    run.processes.spawn("q", meet_often(run, 'q', 3us, 100));
    run.processes.spawn("r", meet_often(run, 'r', 2us, 100));

    run.simulation.run();

    CHECK(run.processes.finished());
    CHECK(run.simulation.now() == Time{300us});
    CHECK(run.log.substr(0, 9) == "qprqprqpr");
}

TEST_CASE("barrier: without time between its openings, no party laps the others") {
    Run run(3);
    run.processes.spawn("p", meet_often(run, 'p', 0us, 100));
    run.processes.spawn("q", meet_often(run, 'q', 0us, 100));
    run.processes.spawn("r", meet_often(run, 'r', 0us, 100));

    run.simulation.run();

    CHECK(run.processes.finished());
    CHECK(run.log.size() == 300);
    CHECK(run.log.substr(0, 9) == "rpqqrppqr");
}

TEST_CASE("barrier: a single party does not wait") {
    Run run(1);

    const Pending<> first = start_arrival(run, 'p');
    const Pending<> second = start_arrival(run, 'q');

    CHECK(run.log == "pq");
}

TEST_CASE("barrier: a barrier without parties is a programming error") {
    CHECK_THROWS_AS(Barrier{0}, LogicError);
    CHECK_THROWS_AS(Barrier{-1}, LogicError);
}

TEST_CASE("barrier: one that is cancelled while it waits has not arrived") {
    Run run(2);
    Pending<> cancelled = start_arrival(run, 'x');

    cancel(std::move(cancelled));
    const Pending<> second = start_arrival(run, 'p');
    const std::string log_of_one = run.log;
    const Pending<> third = start_arrival(run, 'q');
    run.simulation.run();

    CHECK(log_of_one.empty());
    CHECK(run.log == "qp");
}

TEST_CASE("barrier: one that is cancelled after the opening, before it runs, has arrived") {
    Run run(3);
    Pending<> cancelled = start_arrival(run, 'x');
    const Pending<> second = start_arrival(run, 'p');
    const Pending<> last = start_arrival(run, 'q');

    cancel(std::move(cancelled));
    run.simulation.run();
    const std::string log_of_the_meeting = run.log;
    const Pending<> next = start_arrival(run, 'r');
    const Pending<> next_but_one = start_arrival(run, 's');
    run.simulation.run();

    CHECK(log_of_the_meeting == "qp");
    CHECK(run.log == "qp");  // the barrier needs three again
}

TEST_CASE("barrier: a late cancellation does not affect the next opening") {
    Run run(2);
    Pending<> cancelled = start_arrival(run, 'x');
    const Pending<> second = start_arrival(run, 'p');
    const Pending<> early_for_the_next = start_arrival(run, 'q');

    cancel(std::move(cancelled));
    const Pending<> last_of_the_next = start_arrival(run, 'r');
    run.simulation.run();

    CHECK(run.log == "prq");
}

TEST_CASE("barrier: after all waiting parties were dropped, it needs all parties again") {
    Run run(3);
    run.processes.spawn("x", meet(run, 'x'));
    run.processes.spawn("y", meet(run, 'y'));
    run.simulation.run();
    run.processes.drop();

    run.processes.spawn("p", meet(run, 'p'));
    run.simulation.run();
    const std::string log_of_one = run.log;
    run.processes.spawn("q", meet(run, 'q'));
    run.processes.spawn("r", meet(run, 'r'));
    run.simulation.run();

    CHECK(log_of_one.empty());
    CHECK(run.log == "rpq");
}

}  // namespace
}  // namespace paceline::barrier_test
