#include "sim/engine/concurrency.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/channel.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::concurrency_test {
namespace {

using namespace std::chrono_literals;

struct Run {
    Simulation simulation;
    std::string log;
    Channel<int> channel;
    Channel<int> other_channel;
    Processes processes{simulation};

    void note(std::string_view what) {
        log += what;
        log += '@';
        log += to_string(simulation.now() - Time{});
        log += ' ';
    }
};

/// Records its destruction.
struct Witness {
    explicit Witness(Run& its_run, std::string_view its_name) : run(its_run), name(its_name) {}
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness() { run.note(name); }

    Run& run;
    std::string_view name;
};

Task<int> value_after(Run& run, Duration wait, int value) {
    if (wait > Duration::zero()) co_await run.simulation.sleep(wait);
    run.note(std::to_string(value));
    co_return value;
}

Task<> note_after(Run& run, Duration wait, std::string name) {
    if (wait > Duration::zero()) co_await run.simulation.sleep(wait);
    run.note(name);
}

Task<> sleep_witnessed(Run& run, Duration wait) {
    const Witness witness(run, "died");
    co_await run.simulation.sleep(wait);
    run.note("slept");
}

Task<> fail_after(Run& run, Duration wait, std::string why) {
    if (wait > Duration::zero()) co_await run.simulation.sleep(wait);
    throw std::runtime_error(why);
}

Task<int> get(Channel<int>& channel) {
    const int value = co_await channel.get();
    co_return value;
}

std::string listed(const std::vector<int>& values) {
    std::string text;
    for (const int value : values) text += std::to_string(value) + ";";
    return text;
}

Task<> all_values(Run& run, std::vector<Duration> waits) {
    std::vector<Task<int>> tasks;
    tasks.reserve(waits.size());
    int value = 0;
    for (const Duration wait : waits) tasks.push_back(value_after(run, wait, ++value));
    const std::vector<int> values = co_await when_all(std::move(tasks));
    run.note("all " + listed(values));
}

TEST_CASE("when_all: waits for the last, and gives the values in the order of the tasks") {
    Run run;
    run.processes.spawn("p", all_values(run, {5us, 2us, 9us}));

    run.simulation.run();

    CHECK(run.log == "2@2us 1@5us 3@9us all 1;2;3;@9us ");
}

TEST_CASE("when_all: tasks that end at once are accepted") {
    Run run;
    run.processes.spawn("p", all_values(run, {0us, 0us, 0us}));
    run.processes.spawn("q", all_values(run, {0us, 3us}));

    run.simulation.run();

    CHECK(run.log == "1@0ps 2@0ps 3@0ps all 1;2;3;@0ps 1@0ps 2@3us all 1;2;@3us ");
}

TEST_CASE("when_all: without tasks it is done at once and has no values") {
    Run run;
    run.processes.spawn("p", all_values(run, {}));

    run.simulation.run();

    CHECK(run.log == "all @0ps ");
}

Task<> all_of_three(Run& run) {
    co_await when_all(note_after(run, 5us, "a"), note_after(run, 0us, "b"),
                      note_after(run, 2us, "c"));
    run.note("all");
}

TEST_CASE("when_all: takes tasks without a value side by side, and starts them in that order") {
    Run run;
    run.processes.spawn("p", all_of_three(run));

    run.simulation.run();

    CHECK(run.log == "b@0ps c@2us a@5us all@5us ");
}

Task<std::unique_ptr<int>> parcel(Run& run, int content) {
    co_await run.simulation.sleep(1us);
    co_return std::make_unique<int>(content);
}

Task<> parcels(Run& run) {
    std::vector<Task<std::unique_ptr<int>>> tasks;
    tasks.push_back(parcel(run, 1));
    tasks.push_back(parcel(run, 2));
    const std::vector<std::unique_ptr<int>> both = co_await when_all(std::move(tasks));
    run.note(std::to_string(*both[0]) + std::to_string(*both[1]));
}

TEST_CASE("when_all: values need not be copied") {
    Run run;
    run.processes.spawn("p", parcels(run));

    run.simulation.run();

    CHECK(run.log == "12@1us ");
}

Task<> all_but_one_fails(Run& run, Duration until_failure) {
    try {
        co_await when_all(sleep_witnessed(run, 1h), fail_after(run, until_failure, "failed"),
                          sleep_witnessed(run, 1h));
    } catch (const std::runtime_error& error) {
        run.note(error.what());
    }
    co_await run.simulation.sleep(1us);
    run.note("went on");
}

TEST_CASE("when_all: a task that throws ends the wait at once, and the others are destroyed") {
    Run run;
    run.processes.spawn("p", all_but_one_fails(run, 5us));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "died@5us died@5us failed@5us went on@6us ");
    CHECK(run.simulation.now() == Time{6us});
}

TEST_CASE("when_all: after a task that throws at once, no further task is begun") {
    Run run;
    run.processes.spawn("p", all_but_one_fails(run, 0us));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "died@0ps failed@0ps went on@1us ");
}

Task<> all_fail(Run& run) {
    co_await when_all(sleep_witnessed(run, 1h), fail_after(run, 5us, "failed"));
}

TEST_CASE("when_all: a failure that nobody catches leaves the run") {
    Run run;
    run.processes.spawn("p", all_fail(run));

    CHECK_THROWS_WITH_AS(run.simulation.run(), "failed", std::runtime_error);
    CHECK(run.log == "died@5us ");
}

Task<> all_of_many(Run& run, std::size_t count) {
    std::vector<Task<>> tasks;
    tasks.reserve(count);
    for (std::size_t i = 0; i < count; ++i) tasks.push_back(note_after(run, 1us, "x"));
    co_await when_all(std::move(tasks));
    run.log = "all";
}

TEST_CASE("when_all: ten thousand tasks work as two do") {
    Run run;
    run.processes.spawn("p", all_of_many(run, 10'000));

    run.simulation.run();

    CHECK(run.log == "all");
    CHECK(run.simulation.now() == Time{1us});
}

Task<> race_of_values(Run& run, Duration first, Duration second) {
    const std::variant<int, int> winner =
        co_await first_of(value_after(run, first, 1), value_after(run, second, 2));
    run.note("winner " + std::to_string(winner.index()));
}

TEST_CASE("first_of: the first that ends wins, and the loser does not go on") {
    Run run;
    run.processes.spawn("p", race_of_values(run, 9us, 5us));
    run.processes.spawn("q", race_of_values(run, 2us, 3us));

    run.simulation.run();

    CHECK(run.log == "1@2us winner 0@2us 2@5us winner 1@5us ");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("first_of: when the first ends at once, the second never begins") {
    Run run;
    run.processes.spawn("p", race_of_values(run, 0us, 0us));

    run.simulation.run();

    CHECK(run.log == "1@0ps winner 0@0ps ");
}

TEST_CASE("first_of: the second can win at once") {
    Run run;
    run.processes.spawn("p", race_of_values(run, 5us, 0us));

    run.simulation.run();

    CHECK(run.log == "2@0ps winner 1@0ps ");
}

TEST_CASE("first_of: of two timers that end at the same time, the first wins") {
    Run run;
    run.processes.spawn("p", race_of_values(run, 5us, 5us));

    run.simulation.run();

    CHECK(run.log == "1@5us winner 0@5us ");
}

Task<> race_of_getters(Run& run) {
    const std::variant<int, int> winner =
        co_await first_of(get(run.channel), get(run.other_channel));
    run.note("winner " + std::to_string(winner.index()));
}

TEST_CASE("first_of: when both end before the waiter resumes, the first wins") {
    Run run;
    run.processes.spawn("p", race_of_getters(run));
    run.simulation.run();

    run.other_channel.put(2);
    run.channel.put(1);
    run.simulation.run();

    CHECK(run.log == "winner 0@0ps ");
    CHECK(run.channel.size() == 0);
}

Task<> race_against_time(Run& run, Duration limit) {
    const auto winner = co_await first_of(get(run.channel), note_after(run, limit, "timeout"));
    static_assert(std::is_same_v<decltype(winner), const std::variant<int, std::monostate>>);
    run.note("winner " + std::to_string(winner.index()));
}

TEST_CASE("first_of: a loser that waits in a channel takes nothing out of it") {
    Run run;
    run.processes.spawn("p", race_against_time(run, 5us));
    run.simulation.run();

    run.channel.put(1);

    CHECK(run.log == "timeout@5us winner 1@5us ");
    CHECK(run.channel.size() == 1);
}

TEST_CASE("first_of: a loser that sleeps leaves no event behind") {
    Run run;
    run.processes.spawn("p", race_against_time(run, 1h));
    run.simulation.run(Time{5us});

    run.channel.put(1);
    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "winner 0@5us ");
    CHECK(run.simulation.now() == Time{5us});
}

Task<> race_of_the_mortal(Run& run) {
    const auto winner =
        co_await first_of(sleep_witnessed(run, 1h), note_after(run, 5us, "timeout"));
    static_assert(
        std::is_same_v<decltype(winner), const std::variant<std::monostate, std::monostate>>);
    run.note("winner " + std::to_string(winner.index()));
}

TEST_CASE("first_of: the loser is destroyed before the waiter goes on") {
    Run run;
    run.processes.spawn("p", race_of_the_mortal(run));

    run.simulation.run();

    CHECK(run.log == "timeout@5us died@5us winner 1@5us ");
}

Task<> race_with_failure(Run& run, Duration until_failure) {
    try {
        co_await first_of(sleep_witnessed(run, 9us), fail_after(run, until_failure, "failed"));
        run.note("won");
    } catch (const std::runtime_error& error) {
        run.note(error.what());
    }
}

TEST_CASE("first_of: a task that throws first ends the wait, and the other is destroyed") {
    Run run;
    run.processes.spawn("p", race_with_failure(run, 5us));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "died@5us failed@5us ");
}

TEST_CASE("first_of: a task that throws at once ends the wait, too") {
    Run run;
    run.processes.spawn("p", race_with_failure(run, 0us));

    run.simulation.run();

    CHECK(run.log == "died@0ps failed@0ps ");
}

TEST_CASE("first_of: a task that would throw later does so no more") {
    Run run;
    run.processes.spawn("p", race_with_failure(run, 10us));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "slept@9us died@9us won@9us ");
}

Task<> all_races(Run& run) {
    co_await when_all(race_against_time(run, 3us), race_against_time(run, 7us));
    run.note("not reached");
}

Task<> race_of_races(Run& run) {
    co_await first_of(all_races(run), note_after(run, 5us, "enough"));
    run.note("done");
}

TEST_CASE("first_of: a loser dies with all that it awaits, however deep") {
    Run run;
    run.processes.spawn("p", race_of_races(run));

    run.simulation.run();
    run.channel.put(1);

    CHECK(run.log == "timeout@3us winner 1@3us enough@5us done@5us ");
    CHECK(run.simulation.now() == Time{5us});
    CHECK(run.channel.size() == 1);
}

}  // namespace
}  // namespace paceline::concurrency_test
