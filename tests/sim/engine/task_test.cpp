#include "sim/engine/task.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/units.hpp"

namespace paceline::task_test {
namespace {

using namespace std::chrono_literals;

/// True if co_await is defined for an expression of this type and value category.
template <class T>
concept Awaitable = requires(T&& awaited) { std::forward<T>(awaited).operator co_await(); };

struct Run {
    Simulation simulation;
    std::string log;
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

Task<int> seven_at_once() {
    co_return 7;
}

Task<int> seven_after(Run& run, Duration wait) {
    co_await run.simulation.sleep(wait);
    run.note("seven");
    co_return 7;
}

Task<> fail_after(Run& run, Duration wait) {
    if (wait > Duration::zero()) co_await run.simulation.sleep(wait);
    throw std::runtime_error("the work has failed");
}

Task<> work_for(Run& run, Duration wait) {
    const Witness witness(run, "work's frame died");
    co_await run.simulation.sleep(wait);
    run.note("worked");
}

TEST_CASE("task: only a temporary can be awaited, and nothing is copied") {
    static_assert(Awaitable<Task<>>);
    static_assert(!Awaitable<Task<>&>);
    static_assert(!Awaitable<const Task<>&>);
    static_assert(Awaitable<Pending<int>>);
    static_assert(!Awaitable<Pending<int>&>);
    static_assert(!Awaitable<const Pending<int>&>);
    static_assert(!std::is_copy_constructible_v<Task<>>);
    static_assert(!std::is_copy_assignable_v<Task<>>);
    static_assert(!std::is_copy_constructible_v<Pending<>>);
    static_assert(!std::is_copy_assignable_v<Pending<>>);
    static_assert(!std::is_move_constructible_v<Task<>::Awaiter>);
    static_assert(!std::is_move_constructible_v<Pending<>::Awaiter>);

    CHECK(std::is_nothrow_move_constructible_v<Task<>>);
    CHECK(std::is_nothrow_move_assignable_v<Task<>>);
}

Task<> note_that_it_began(Run& run) {
    run.note("began");
    co_return;
}

Task<> make_then_await(Run& run) {
    Task<> task = note_that_it_began(run);
    run.note("made");
    co_await std::move(task);
    run.note("awaited");
}

TEST_CASE("task: a task is lazy, and begins when it is awaited") {
    Run run;
    run.processes.spawn("p", make_then_await(run));

    run.simulation.run();

    CHECK(run.log == "made@0ps began@0ps awaited@0ps ");
}

Task<> count_down(std::shared_ptr<int> count) {
    --*count;
    co_return;
}

TEST_CASE("task: a task that never begins does nothing, and frees what it was given") {
    const auto count = std::make_shared<int>(1);

    {
        const Task<> task = count_down(count);
        CHECK(count.use_count() == 2);
    }

    CHECK(count.use_count() == 1);
    CHECK(*count == 1);
}

Task<> add_results(Run& run, int& sum) {
    sum += co_await seven_at_once();
    sum += co_await seven_after(run, 5us);
}

TEST_CASE("task: the result of a child that ends at once or later is the value of co_await") {
    Run run;
    int sum = 0;
    run.processes.spawn("p", add_results(run, sum));

    run.simulation.run();

    CHECK(sum == 14);
    CHECK(run.log == "seven@5us ");
}

/// A result that can only be moved, and has no default.
struct Parcel {
    explicit Parcel(int its_content) : content(std::make_unique<int>(its_content)) {}

    std::unique_ptr<int> content;
};

Task<Parcel> pack(Run& run, int content) {
    co_await run.simulation.sleep(1us);
    co_return Parcel(content);
}

Task<> unpack(Run& run, int& content) {
    const Parcel parcel = co_await pack(run, 5);
    content = *parcel.content;
}

TEST_CASE("task: a result need not be copyable or default-constructible") {
    Run run;
    int content = 0;
    run.processes.spawn("p", unpack(run, content));

    run.simulation.run();

    CHECK(content == 5);
}

Task<> middle(Run& run, Duration wait) {
    const Witness witness(run, "middle's frame died");
    co_await fail_after(run, wait);
    run.note("not reached");
}

Task<> recover_from(Run& run, Duration wait) {
    try {
        co_await middle(run, wait);
    } catch (const std::runtime_error& error) {
        run.note(error.what());
    }
    co_await run.simulation.sleep(1us);
    run.note("went on");
}

TEST_CASE("task: an exception passes through co_await, level by level, at its instant") {
    Run run;
    run.processes.spawn("p", recover_from(run, 5us));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "middle's frame died@5us the work has failed@5us went on@6us ");
}

TEST_CASE("task: an exception passes through co_await of a child that fails at once") {
    Run run;
    run.processes.spawn("p", recover_from(run, 0us));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "middle's frame died@0ps the work has failed@0ps went on@1us ");
}

Task<> await_synchronous_child(Run& run, std::string name) {
    run.note(name);
    co_await note_that_it_began(run);
    run.note(name);
}

TEST_CASE("task: a child that does not wait lets nobody else go first") {
    Run run;
    run.processes.spawn("p", await_synchronous_child(run, "p"));
    run.processes.spawn("q", await_synchronous_child(run, "q"));

    run.simulation.run();

    CHECK(run.log == "p@0ps began@0ps p@0ps q@0ps began@0ps q@0ps ");
}

Task<> await_once_more(Run& run) {
    Task<> task = note_that_it_began(run);
    co_await std::move(task);
    co_await std::move(task);  // NOLINT(bugprone-use-after-move): this is the mistake
}

TEST_CASE("task: awaiting a task twice is a programming error") {
    Run run;
    run.processes.spawn("p", await_once_more(run));

    CHECK_THROWS_AS(run.simulation.run(), LogicError);
    CHECK(run.log == "began@0ps ");
}

Task<> await_moved_from(Run& run) {
    Task<> task = note_that_it_began(run);
    const Task<> owner = std::move(task);
    co_await std::move(task);  // NOLINT(bugprone-use-after-move): this is the mistake
}

TEST_CASE("task: awaiting a task that was moved from is a programming error") {
    Run run;
    run.processes.spawn("p", await_moved_from(run));

    CHECK_THROWS_AS(run.simulation.run(), LogicError);
    CHECK(run.log.empty());
}

TEST_CASE("task: a task that is assigned over dies") {
    const auto first = std::make_shared<int>(1);
    const auto second = std::make_shared<int>(1);
    Task<> task = count_down(first);

    task = count_down(second);

    CHECK(first.use_count() == 1);
    CHECK(second.use_count() == 2);
}

Task<> await_a_million_children(std::int64_t& sum) {
    for (int i = 0; i < 1'000'000; ++i) sum += co_await seven_at_once();
}

TEST_CASE("task: a million children that end at once, one after another, keep the stack flat") {
    Run run;
    std::int64_t sum = 0;
    run.processes.spawn("p", await_a_million_children(sum));

    run.simulation.run();

    CHECK(sum == 7'000'000);
}

Task<int> dig(Run& run, int levels) {
    co_await run.simulation.sleep(0us);
    if (levels == 0) co_return 0;
    const int below = co_await dig(run, levels - 1);
    co_return below + 1;
}

Task<> dig_and_tell(Run& run, int levels, int& depth) {
    depth = co_await dig(run, levels);
}

TEST_CASE("task: a hundred thousand levels of waiting end one after another, on a flat stack") {
    Run run;
    int depth = 0;
    run.processes.spawn("p", dig_and_tell(run, 100'000, depth));

    run.simulation.run();

    CHECK(depth == 100'000);
}

Task<int> dig_at_once(int levels) {
    if (levels == 0) co_return 0;
    const int below = co_await dig_at_once(levels - 1);
    co_return below + 1;
}

Task<> dig_at_once_and_tell(int levels, int& depth) {
    depth = co_await dig_at_once(levels);
}

TEST_CASE("task: five thousand levels that begin inside each other fit on the stack") {
    Run run;
    int depth = 0;
    run.processes.spawn("p", dig_at_once_and_tell(5'000, depth));

    run.simulation.run();

    CHECK(depth == 5'000);
}

TEST_CASE("task: five thousand levels that wait can be dropped together") {
    Run run;
    run.simulation.limit_resumptions(5'000);
    int depth = 0;
    run.processes.spawn("p", dig_and_tell(run, 10'000, depth));
    run.simulation.run();

    run.processes.drop();

    CHECK(run.simulation.waiting().empty());
    CHECK(depth == 0);
}

Task<> start_then_await(Run& run, Duration until_awaited) {
    Pending<int> later = run.simulation.start(make_process("test"), seven_after(run, 5us));
    run.note("started");
    co_await run.simulation.sleep(until_awaited);
    run.note(later.finished() ? "finished" : "unfinished");
    const int value = co_await std::move(later);
    run.note(std::to_string(value));
}

TEST_CASE("pending: awaited before its end, it waits for the rest of the work") {
    Run run;
    run.processes.spawn("p", start_then_await(run, 2us));

    run.simulation.run();

    CHECK(run.log == "started@0ps unfinished@2us seven@5us 7@5us ");
}

TEST_CASE("pending: awaited after its end, it gives the result at once") {
    Run run;
    run.processes.spawn("p", start_then_await(run, 9us));

    run.simulation.run();

    CHECK(run.log == "started@0ps seven@5us finished@9us 7@9us ");
}

TEST_CASE("pending: the work begins when it is started, before the caller goes on") {
    Run run;

    const Pending<> pending = run.simulation.start(make_process("test"), note_that_it_began(run));

    CHECK(run.log == "began@0ps ");
    CHECK(pending.finished());
}

Task<> start_and_drop(Run& run) {
    {
        const Pending<> dropped = run.simulation.start(make_process("test"), work_for(run, 1h));
        co_await run.simulation.sleep(2us);
    }
    run.note("dropped");
}

TEST_CASE("pending: dropped, it is cancelled, and its sleep does not keep the run alive") {
    Run run;
    run.processes.spawn("p", start_and_drop(run));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "work's frame died@2us dropped@2us ");
    CHECK(run.simulation.now() == Time{2us});
    CHECK(run.simulation.events_fired() == 1);
}

Task<> start_and_end(Run& run) {
    const Pending<> dropped = run.simulation.start(make_process("test"), work_for(run, 1h));
    co_await run.simulation.sleep(2us);
    run.note("ended");
}

TEST_CASE("pending: what is still pending when its owner ends dies with the owner's frame") {
    Run run;
    run.processes.spawn("p", start_and_end(run));

    run.simulation.run();

    CHECK(run.log == "ended@2us work's frame died@2us ");
    CHECK(run.simulation.now() == Time{2us});
}

TEST_CASE("pending: assigned over, the former work is cancelled") {
    Run run;
    Pending<> pending = run.simulation.start(make_process("test"), work_for(run, 1h));

    pending = run.simulation.start(make_process("test"), work_for(run, 3us));
    run.simulation.run();

    CHECK(run.log == "work's frame died@0ps worked@3us work's frame died@3us ");
    CHECK(pending.finished());
}

Task<> start_failing_and_sleep(Run& run, Duration until_failure) {
    const Pending<> failing =
        run.simulation.start(make_process("test"), fail_after(run, until_failure));
    co_await run.simulation.sleep(9us);
    run.note("not reached");
}

TEST_CASE("pending: a failure that nobody awaits yet leaves the run at its instant") {
    Run run;
    run.processes.spawn("p", start_failing_and_sleep(run, 5us));

    CHECK_THROWS_WITH_AS(run.simulation.run(), "the work has failed", std::runtime_error);
    CHECK(run.simulation.now() == Time{5us});
    CHECK(run.log.empty());
}

TEST_CASE("pending: a failure inside the start leaves the run, too") {
    Run run;
    run.processes.spawn("p", start_failing_and_sleep(run, 0us));

    CHECK_THROWS_WITH_AS(run.simulation.run(), "the work has failed", std::runtime_error);
    CHECK(run.simulation.now() == Time{});
    CHECK(run.log.empty());
}

Task<> start_failing_and_await(Run& run) {
    Pending<> failing = run.simulation.start(make_process("test"), fail_after(run, 5us));
    co_await run.simulation.sleep(2us);
    try {
        co_await std::move(failing);
    } catch (const std::runtime_error& error) {
        run.note(error.what());
    }
}

TEST_CASE("pending: a failure that is awaited is the awaiter's, and the run goes on") {
    Run run;
    run.processes.spawn("p", start_failing_and_await(run));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "the work has failed@5us ");
}

Task<> drop_awaiter(Run& run) {
    {
        const Pending<> outer =
            run.simulation.start(make_process("test"), start_then_await(run, 1us));
        co_await run.simulation.sleep(2us);
    }
    run.note("dropped");
}

TEST_CASE("pending: whoever is cancelled while awaiting one cancels it") {
    Run run;
    run.processes.spawn("p", drop_awaiter(run));

    run.simulation.run();

    CHECK(run.log == "started@0ps unfinished@1us dropped@2us ");
    CHECK(run.simulation.now() == Time{2us});
}

}  // namespace
}  // namespace paceline::task_test
