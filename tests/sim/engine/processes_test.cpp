#include "sim/engine/processes.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/action.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::processes_test {
namespace {

using namespace std::chrono_literals;

struct Run {
    Simulation simulation;
    std::string log;
    std::vector<int> deaths;
    Channel<int> channel;
    Processes processes{simulation};

    void spawn_another(std::uint32_t letter);
    void drop(std::uint32_t /*unused*/) { processes.drop(); }
};

struct Mortal {
    explicit Mortal(Run& its_run, int its_number) : run(its_run), number(its_number) {}
    Mortal(const Mortal&) = delete;
    Mortal& operator=(const Mortal&) = delete;
    ~Mortal() { run.deaths.push_back(number); }

    Run& run;
    int number;
};

Task<> write(Run& run, char letter, Duration wait = Duration::zero()) {
    run.log += letter;
    co_await run.simulation.sleep(wait);
    run.log += letter;
}

Task<> sleep_mortally(Run& run, int number) {
    const Mortal mortal(run, number);
    co_await run.simulation.sleep(1h);
}

void Run::spawn_another(std::uint32_t letter) {
    processes.spawn("another", write(*this, static_cast<char>(letter), 1us));
    log += '.';
}

TEST_CASE("processes: they begin when the simulation runs, in the order of spawning") {
    Run run;
    run.processes.spawn("p", write(run, 'p'));
    run.processes.spawn("q", write(run, 'q'));
    const std::string log_before = run.log;

    run.simulation.run();

    CHECK(log_before.empty());
    CHECK(run.log == "pqpq");
}

TEST_CASE("processes: one can be spawned while the simulation runs, and begins in that instant") {
    Run run;
    run.simulation.at(Time{5us}, action<&Run::spawn_another>(run, 'p'));

    run.simulation.run();

    CHECK(run.log == ".pp");
    CHECK(run.simulation.now() == Time{6us});
}

Task<> spawn_from_inside(Run& run) {
    run.processes.spawn("child", write(run, 'c'));
    run.log += 'p';
    co_return;
}

TEST_CASE("processes: a process can spawn another, which begins after it has waited or ended") {
    Run run;
    run.processes.spawn("p", spawn_from_inside(run));

    run.simulation.run();

    CHECK(run.log == "pcc");
    CHECK(run.processes.size() == 2);
}

TEST_CASE("processes: they have finished when every one has") {
    Run run;
    const bool finished_at_first = run.processes.finished();
    run.processes.spawn("p", write(run, 'p', 2us));
    run.processes.spawn("q", write(run, 'q', 9us));

    const bool finished_before_the_run = run.processes.finished();
    run.simulation.run(Time{5us});
    const bool finished_half_way = run.processes.finished();
    run.simulation.run();

    CHECK(finished_at_first);
    CHECK_FALSE(finished_before_the_run);
    CHECK_FALSE(finished_half_way);
    CHECK(run.processes.finished());
    CHECK(run.processes.size() == 2);
}

TEST_CASE("processes: drop cancels all, and leaves no event behind") {
    Run run;
    run.processes.spawn("p", write(run, 'p', 9us));
    run.processes.spawn("q", write(run, 'q', 9us));
    run.simulation.run(Time{5us});

    run.processes.drop();

    CHECK(run.processes.size() == 0);
    CHECK(run.simulation.waiting().empty());
    CHECK(run.simulation.run() == RunEnd::idle);
    CHECK(run.log == "pq");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("processes: drop before the run means that nothing begins") {
    Run run;
    run.processes.spawn("p", write(run, 'p'));

    run.processes.drop();
    run.simulation.run();

    CHECK(run.log.empty());
}

TEST_CASE("processes: an event can drop them all, and the run ends there") {
    Run run;
    run.processes.spawn("p", write(run, 'p', 9us));
    run.simulation.at(Time{5us}, action<&Run::drop>(run));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.simulation.now() == Time{5us});
    CHECK(run.log == "p");
}

TEST_CASE("processes: new ones can be spawned after a drop") {
    Run run;
    run.processes.spawn("p", write(run, 'p', 9us));
    run.simulation.run(Time{5us});
    run.processes.drop();

    run.processes.spawn("q", write(run, 'q', 2us));
    run.simulation.run();

    CHECK(run.log == "pqq");
    CHECK(run.simulation.now() == Time{7us});
}

TEST_CASE("processes: dropped frames die in the order of spawning, however many they are") {
    Run run;
    std::vector<int> expected;
    for (int number = 0; number < 100; ++number) {
        run.processes.spawn("p", sleep_mortally(run, number));
        expected.push_back(number);
    }
    run.simulation.run(Time{1us});

    run.processes.drop();

    CHECK(run.deaths == expected);
}

Task<> fail(Run& run) {
    co_await run.simulation.sleep(5us);
    throw std::runtime_error("the process has failed");
}

TEST_CASE("processes: an exception in one leaves the run, and the others can still be dropped") {
    Run run;
    run.processes.spawn("p", sleep_mortally(run, 1));
    run.processes.spawn("q", fail(run));

    CHECK_THROWS_WITH_AS(run.simulation.run(), "the process has failed", std::runtime_error);
    run.processes.drop();

    CHECK(run.deaths == std::vector{1});
}

Task<> fail_at_once(Run& run) {
    run.log += 'f';
    throw std::runtime_error("the process has failed");
    co_return;
}

TEST_CASE("processes: one that fails at its very beginning fails in the run, not in spawn") {
    Run run;
    run.processes.spawn("p", fail_at_once(run));
    const std::string log_before = run.log;

    CHECK_THROWS_WITH_AS(run.simulation.run(), "the process has failed", std::runtime_error);
    CHECK(log_before.empty());
    CHECK(run.log == "f");
}

Task<> get_forever(Run& run) {
    while (true) co_await run.channel.get();
}

TEST_CASE("processes: names stay what they are when many more are spawned") {
    Run run;
    std::string expected;
    for (int number = 0; number < 200; ++number) {
        const std::string name = "the process with the number " + std::to_string(number);
        run.processes.spawn(name, get_forever(run));
        expected += name + "\n";
    }
    run.simulation.run();

    std::string names;
    for (const Waiting& waiting : run.simulation.waiting()) names += waiting.process + "\n";

    CHECK(names == expected);
}

}  // namespace
}  // namespace paceline::processes_test
