#include "sim/engine/resource.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::resource_test {
namespace {

using namespace std::chrono_literals;

struct Run {
    explicit Run(int units) : resource(units) {}

    Simulation simulation;
    std::string log;
    Resource resource;
    Processes processes{simulation};

    void note(std::string_view what) {
        log += what;
        log += '@';
        log += to_string(simulation.now() - Time{});
        log += ' ';
    }
};

Task<> hold(Run& run, std::string name, Duration span) {
    const Resource::Lease lease = co_await run.resource.acquire();
    run.note(name);
    co_await run.simulation.sleep(span);
}

/// A holder or waiter that the test can cancel.
Pending<> start_holder(Run& run, std::string name) {
    return run.simulation.start(make_process("test"), hold(run, std::move(name), 5us));
}

void cancel(Pending<> holder) {
    static_cast<void>(holder);
}

TEST_CASE("resource: units are granted at once while there are some") {
    Run run(2);

    const Pending<> first = start_holder(run, "p");
    const Pending<> second = start_holder(run, "q");
    const Pending<> third = start_holder(run, "r");

    CHECK(run.log == "p@0ps q@0ps ");
    CHECK(run.resource.free() == 0);
}

TEST_CASE("resource: units are granted in the order of asking, as they come back") {
    Run run(2);
    run.processes.spawn("p", hold(run, "p", 5us));
    run.processes.spawn("q", hold(run, "q", 2us));
    run.processes.spawn("r", hold(run, "r", 4us));
    run.processes.spawn("s", hold(run, "s", 1us));

    run.simulation.run();

    CHECK(run.log == "p@0ps q@0ps r@2us s@5us ");
    CHECK(run.resource.free() == 2);
}

Task<> hold_repeatedly(Run& run, std::string name, int times) {
    for (int i = 0; i < times; ++i) co_await hold(run, name, 1us);
}

TEST_CASE("resource: one that asks again queues behind those that wait") {
    Run run(1);
    run.processes.spawn("p", hold_repeatedly(run, "p", 2));
    run.processes.spawn("q", hold_repeatedly(run, "q", 2));
    run.processes.spawn("r", hold_repeatedly(run, "r", 1));

    run.simulation.run();

    CHECK(run.log == "p@0ps q@1us r@2us p@3us q@4us ");
}

TEST_CASE("resource: a unit granted to a waiter is not free for a latecomer") {
    Run run(1);
    Pending<> holder = start_holder(run, "p");
    const Pending<> asker = start_holder(run, "q");

    cancel(std::move(holder));
    const Pending<> latecomer = start_holder(run, "r");
    run.simulation.run();

    CHECK(run.log == "p@0ps q@0ps r@5us ");
}

TEST_CASE("resource: a lease is given back when it dies, however its owner ends") {
    Run run(1);
    Pending<> holder = start_holder(run, "p");
    const int free_while_held = run.resource.free();

    cancel(std::move(holder));

    CHECK(free_while_held == 0);
    CHECK(run.resource.free() == 1);
}

TEST_CASE("resource: one that is cancelled while it asks is granted nothing") {
    Run run(1);
    const Pending<> holder = start_holder(run, "p");
    Pending<> cancelled = start_holder(run, "x");
    const Pending<> next = start_holder(run, "q");

    cancel(std::move(cancelled));
    run.simulation.run();

    CHECK(run.log == "p@0ps q@5us ");
    CHECK(run.resource.free() == 1);
}

TEST_CASE("resource: one that is cancelled after the grant, before it runs, gives the unit back") {
    Run run(1);
    Pending<> holder = start_holder(run, "p");
    Pending<> cancelled = start_holder(run, "x");
    cancel(std::move(holder));

    cancel(std::move(cancelled));

    CHECK(run.log == "p@0ps ");
    CHECK(run.resource.free() == 1);
}

TEST_CASE("resource: a unit passes on through any number of cancelled waiters") {
    Run run(1);
    Pending<> holder = start_holder(run, "p");
    std::vector<Pending<>> cancelled;
    cancelled.reserve(10);
    for (int i = 0; i < 10; ++i) cancelled.push_back(start_holder(run, "x"));
    const Pending<> last = start_holder(run, "q");
    cancel(std::move(holder));

    for (Pending<>& asker : cancelled) cancel(std::move(asker));
    run.simulation.run();

    CHECK(run.log == "p@0ps q@0ps ");
    CHECK(run.resource.free() == 1);
}

TEST_CASE("resource: dropping holders and waiters together gives every unit back") {
    Run run(3);
    for (int i = 0; i < 10; ++i) run.processes.spawn("p", hold(run, "p", 1h));
    run.simulation.run(Time{1us});
    const int free_before = run.resource.free();

    run.processes.drop();

    CHECK(free_before == 0);
    CHECK(run.resource.free() == 3);
}

TEST_CASE("resource: a lease moves, and is given back once") {
    static_assert(std::is_nothrow_move_constructible_v<Resource::Lease>);
    static_assert(!std::is_copy_constructible_v<Resource::Lease>);
    static_assert(!std::is_move_assignable_v<Resource::Lease>);
    Resource resource(5);

    {
        Resource::Lease first(resource);  // as if one more unit had been taken
        const Resource::Lease second(std::move(first));
        CHECK(resource.free() == 5);
    }

    CHECK(resource.free() == 6);
}

TEST_CASE("resource: a resource without units is a programming error") {
    CHECK_THROWS_AS(Resource{0}, LogicError);
    CHECK_THROWS_AS(Resource{-1}, LogicError);
}

}  // namespace
}  // namespace paceline::resource_test
