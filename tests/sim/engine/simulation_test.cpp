#include "sim/engine/simulation.hpp"

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/action.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/resource.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::simulation_test {
namespace {

using namespace std::chrono_literals;

struct Run {
    Simulation simulation;
    std::string log;
    Channel<int> channel;
    Barrier barrier{3};
    Resource resource{1};
    Processes processes{simulation};

    void note(std::string_view what) {
        log += what;
        log += '@';
        log += to_string(simulation.now() - Time{});
        log += ' ';
    }

    // What the events do.
    void write(std::uint32_t letter) { log += static_cast<char>(letter); }
    void put_and_write(std::uint32_t letter) {
        channel.put(0);
        write(letter);
    }
    void stop_and_write(std::uint32_t letter) {
        simulation.stop();
        write(letter);
    }
    Action writes(char letter) { return action<&Run::write>(*this, std::uint32_t(letter)); }
};

std::string listed(const std::vector<Waiting>& all) {
    std::string text;
    for (const Waiting& waiting : all) text += waiting.process + ": " + waiting.what + "\n";
    return text;
}

Task<> sleep_and_note(Run& run, Duration wait, std::string name) {
    co_await run.simulation.sleep(wait);
    run.note(name);
}

Task<> write_twice(Run& run, Duration wait, char letter) {
    co_await run.simulation.sleep(wait);
    run.log += letter;
    co_await run.simulation.sleep(0us);
    run.log += letter;
}

Task<> get_and_write(Run& run, char letter) {
    co_await run.channel.get();
    run.log += letter;
}

Task<> yield_times(Run& run, int times) {
    for (int i = 0; i < times; ++i) co_await run.simulation.sleep(0us);
}

TEST_CASE("simulation: a simulation without work ends idle at time zero") {
    Run run;

    CHECK(run.simulation.run() == RunEnd::idle);
    CHECK(run.simulation.now() == Time{});
    CHECK(run.simulation.events_fired() == 0);
}

TEST_CASE("simulation: events fire at their times, and in the order of their making within one") {
    Run run;
    run.simulation.after(7us, run.writes('c'));
    run.simulation.at(Time{5us}, run.writes('a'));
    run.simulation.after(7us, run.writes('d'));
    run.simulation.after(5us, run.writes('b'));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "abcd");
    CHECK(run.simulation.now() == Time{7us});
}

TEST_CASE("simulation: sleepers wake at their times, first in first out within one") {
    Run run;
    run.processes.spawn("p", sleep_and_note(run, 5us, "p"));
    run.processes.spawn("q", sleep_and_note(run, 3us, "q"));
    run.processes.spawn("r", sleep_and_note(run, 5us, "r"));

    run.simulation.run();

    CHECK(run.log == "q@3us p@5us r@5us ");
}

TEST_CASE("simulation: a sleep of zero or less lets the others of the instant go first") {
    Run run;
    run.processes.spawn("p", write_twice(run, 0us, 'p'));
    run.processes.spawn("q", write_twice(run, -1us, 'q'));
    run.processes.spawn("r", write_twice(run, 0us, 'r'));

    run.simulation.run();

    CHECK(run.log == "pqrpqr");
    CHECK(run.simulation.now() == Time{});
    CHECK(run.simulation.events_fired() == 0);
}

TEST_CASE("simulation: what an event made ready goes before the next event of the instant") {
    Run run;
    run.processes.spawn("p", get_and_write(run, 'p'));
    run.simulation.at(Time{5us}, action<&Run::put_and_write>(run, 'a'));
    run.simulation.at(Time{5us}, run.writes('b'));

    run.simulation.run();

    CHECK(run.log == "apb");
}

TEST_CASE("simulation: those made ready by one event go in the order in which they were woken") {
    Run run;
    run.processes.spawn("p", get_and_write(run, 'p'));
    run.processes.spawn("q", get_and_write(run, 'q'));
    run.processes.spawn("r", write_twice(run, 5us, 'r'));
    run.simulation.at(Time{4us}, action<&Run::put_and_write>(run, 'a'));
    run.simulation.at(Time{5us}, action<&Run::put_and_write>(run, 'b'));

    run.simulation.run();

    CHECK(run.log == "apbqrr");
}

/// Closes the instant several times. Each time but the last it makes more work for the instant.
struct Closer {
    Run& run;
    int rounds;

    void close(std::uint32_t /*unused*/) {
        run.log += '.';
        if (--rounds == 0) return;
        run.simulation.after(0us, run.writes('e'));
        run.channel.put(0);
        run.simulation.at_end_of_instant(action<&Closer::close>(*this));
    }
    void ask(std::uint32_t letter) {
        run.simulation.at_end_of_instant(action<&Closer::close>(*this));
        run.write(letter);
    }
};

TEST_CASE("simulation: closing actions run once, after the ready and the events of the instant") {
    Run run;
    Closer closer{run, 1};
    run.processes.spawn("p", write_twice(run, 5us, 'p'));
    run.simulation.at(Time{5us}, action<&Closer::ask>(closer, 'a'));
    run.processes.spawn("q", write_twice(run, 5us, 'q'));
    run.simulation.at(Time{5us}, run.writes('b'));
    run.simulation.at(Time{6us}, run.writes('c'));

    run.simulation.run();

    CHECK(run.log == "abppqq.c");
}

TEST_CASE("simulation: closing actions run again after the work that they made for the instant") {
    Run run;
    Closer closer{run, 3};
    run.processes.spawn("p", get_and_write(run, 'p'));
    run.processes.spawn("q", get_and_write(run, 'q'));
    run.simulation.at(Time{5us}, action<&Closer::ask>(closer, 'a'));
    run.simulation.at(Time{6us}, run.writes('c'));

    run.simulation.run();

    CHECK(run.log == "a.pe.qe.c");
}

TEST_CASE("simulation: a closing action can be asked for before the run, and runs at time zero") {
    Run run;
    run.simulation.at_end_of_instant(run.writes('.'));
    run.simulation.at(Time{}, run.writes('a'));
    run.simulation.at(Time{1us}, run.writes('b'));

    run.simulation.run();

    CHECK(run.log == "a.b");
}

TEST_CASE("simulation: closing actions alone move no clock and end idle") {
    Run run;
    run.simulation.at_end_of_instant(run.writes('.'));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == ".");
    CHECK(run.simulation.now() == Time{});
}

TEST_CASE("simulation: a run ends at its time limit, after the events of that very time") {
    Run run;
    run.simulation.at(Time{5us}, run.writes('a'));
    run.simulation.at(Time{6us}, run.writes('b'));

    const RunEnd end = run.simulation.run(Time{5us});

    CHECK(end == RunEnd::time_limit);
    CHECK(run.log == "a");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("simulation: after a time limit the clock stands at the limit, and the run can go on") {
    Run run;
    run.processes.spawn("p", sleep_and_note(run, 9us, "p"));

    const RunEnd first = run.simulation.run(Time{4us});
    const Time clock = run.simulation.now();
    run.simulation.after(1us, run.writes('a'));
    const RunEnd second = run.simulation.run(Time{6us});
    const RunEnd third = run.simulation.run();

    CHECK(first == RunEnd::time_limit);
    CHECK(clock == Time{4us});
    CHECK(second == RunEnd::time_limit);
    CHECK(third == RunEnd::idle);
    CHECK(run.log == "ap@9us ");
}

TEST_CASE("simulation: with nothing left before the limit, the clock stays at the last event") {
    Run run;
    run.simulation.at(Time{5us}, run.writes('a'));

    const RunEnd end = run.simulation.run(Time{9us});

    CHECK(end == RunEnd::idle);
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("simulation: a limit that lies in the past does not turn the clock back") {
    Run run;
    run.simulation.at(Time{5us}, run.writes('a'));
    run.simulation.at(Time{9us}, run.writes('b'));
    run.simulation.run(Time{6us});

    const RunEnd end = run.simulation.run(Time{2us});

    CHECK(end == RunEnd::time_limit);
    CHECK(run.simulation.now() == Time{6us});
    CHECK(run.log == "a");
}

TEST_CASE("simulation: an event in the past is refused") {
    Run run;
    run.simulation.at(Time{5us}, run.writes('a'));
    run.simulation.run();

    CHECK_THROWS_AS(run.simulation.at(Time{4us}, run.writes('x')), LogicError);
    CHECK_THROWS_AS(run.simulation.after(-1us, run.writes('x')), LogicError);
}

TEST_CASE("simulation: an event before the time limit at which the clock stands is refused") {
    Run run;
    run.simulation.at(Time{9us}, run.writes('a'));
    run.simulation.run(Time{5us});

    CHECK_THROWS_AS(run.simulation.at(Time{4us}, run.writes('x')), LogicError);
    CHECK_THROWS_AS(run.simulation.after(-1us, run.writes('x')), LogicError);
}

TEST_CASE("simulation: an event before time zero is refused") {
    Run run;

    CHECK_THROWS_AS(run.simulation.at(Time{-1us}, run.writes('x')), LogicError);
}

TEST_CASE("simulation: a cancelled event does not fire, nor does it keep the run alive") {
    Run run;
    const EventId cancelled = run.simulation.after(9us, run.writes('x'));
    const EventId fired = run.simulation.after(5us, run.writes('a'));

    const bool was_pending = run.simulation.cancel(cancelled);
    run.simulation.run();

    CHECK(was_pending);
    CHECK_FALSE(run.simulation.cancel(cancelled));
    CHECK_FALSE(run.simulation.cancel(fired));
    CHECK(run.log == "a");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("simulation: stop ends the run before the next event, and the run can go on") {
    Run run;
    run.simulation.at(Time{5us}, action<&Run::stop_and_write>(run, 'a'));
    run.simulation.at(Time{5us}, run.writes('b'));

    const RunEnd first = run.simulation.run();
    const std::string log_at_stop = run.log;
    const RunEnd second = run.simulation.run();

    CHECK(first == RunEnd::stopped);
    CHECK(log_at_stop == "a");
    CHECK(second == RunEnd::idle);
    CHECK(run.log == "ab");
}

Task<> put_and_stop(Run& run) {
    co_await run.simulation.sleep(5us);
    run.channel.put(0);
    run.simulation.stop();
    run.log += "stop ";
}

TEST_CASE("simulation: stop ends the run before the next resumption, and the run can go on") {
    Run run;
    run.processes.spawn("p", get_and_write(run, 'p'));
    run.processes.spawn("q", put_and_stop(run));

    const RunEnd first = run.simulation.run();
    const std::string log_at_stop = run.log;
    const RunEnd second = run.simulation.run();

    CHECK(first == RunEnd::stopped);
    CHECK(log_at_stop == "stop ");
    CHECK(second == RunEnd::idle);
    CHECK(run.log == "stop p");
}

struct Ticker {
    Run& run;

    void tick(std::uint32_t letter) {
        run.write(letter);
        run.simulation.after(2us, action<&Ticker::tick>(*this, letter), EventKind::daemon);
    }
};

TEST_CASE("simulation: daemon events fire, but do not keep the run alive") {
    Run run;
    Ticker ticker{run};
    run.simulation.after(2us, action<&Ticker::tick>(ticker, 'd'), EventKind::daemon);
    run.processes.spawn("p", sleep_and_note(run, 5us, "p"));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log == "ddp@5us ");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("simulation: a run of daemons only ends at once") {
    Run run;
    run.simulation.after(2us, run.writes('d'), EventKind::daemon);

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.log.empty());
    CHECK(run.simulation.now() == Time{});
}

Task<> spin(Run& run) {
    co_await run.simulation.sleep(5us);
    while (true) co_await run.simulation.sleep(0us);
}

TEST_CASE("simulation: a process that never lets an instant end is named") {
    Run run;
    run.simulation.limit_resumptions(1000);
    run.processes.spawn("patient", get_and_write(run, 'p'));
    run.processes.spawn("busybody", spin(run));
    run.processes.spawn("sleeper", sleep_and_note(run, 9us, "sleeper"));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::spinning);
    CHECK(run.simulation.spinning_process() == "busybody");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("simulation: as many resumptions in an instant as the limit allows are not spinning") {
    Run run;
    run.simulation.limit_resumptions(100);
    const Pending<> yielding = run.simulation.start(make_process("test"), yield_times(run, 100));

    CHECK(run.simulation.run() == RunEnd::idle);
}

TEST_CASE("simulation: one resumption in an instant more than the limit is spinning") {
    Run run;
    run.simulation.limit_resumptions(100);
    const Pending<> yielding = run.simulation.start(make_process("test"), yield_times(run, 101));

    CHECK(run.simulation.run() == RunEnd::spinning);
}

Task<> note_progress_often(Run& run, int times) {
    for (int i = 0; i < times; ++i) {
        co_await yield_times(run, 90);
        run.simulation.note_progress();
    }
}

TEST_CASE("simulation: resumptions are counted anew after progress within an instant") {
    Run run;
    run.simulation.limit_resumptions(100);
    const Pending<> going_on =
        run.simulation.start(make_process("test"), note_progress_often(run, 50));

    CHECK(run.simulation.run() == RunEnd::idle);
    CHECK(run.simulation.now() == Time{});
}

TEST_CASE("simulation: work between two progresses that exceeds the limit is spinning") {
    Run run;
    run.simulation.limit_resumptions(80);
    const Pending<> going_on =
        run.simulation.start(make_process("test"), note_progress_often(run, 50));

    CHECK(run.simulation.run() == RunEnd::spinning);
}

Task<> pass_on_forever(Channel<int>& from, Channel<int>& to) {
    while (true) to.put(co_await from.get());
}

TEST_CASE("simulation: two processes that hand a token to and fro without time are spinning") {
    Channel<int> there;  // outlive the processes that wait for them
    Channel<int> back;
    there.put(1);
    Run run;
    run.simulation.limit_resumptions(1000);
    run.processes.spawn("ping", pass_on_forever(there, back));
    run.processes.spawn("pong", pass_on_forever(back, there));

    CHECK(run.simulation.run() == RunEnd::spinning);
}

Task<> step_forever(Run& run) {
    while (true) {
        co_await run.simulation.sleep(0us);
        run.simulation.note_progress();
    }
}

TEST_CASE("simulation: a stop is obeyed at progress within an instant, too") {
    Run run;
    Progress progress;
    progress.stop = true;
    run.simulation.report_to(&progress);
    const Pending<> going_on = run.simulation.start(make_process("test"), step_forever(run));

    CHECK(run.simulation.run() == RunEnd::stopped);
    CHECK(run.simulation.now() == Time{});
}

Task<> yield_in_every_instant(Run& run, int instants) {
    for (int i = 0; i < instants; ++i) {
        co_await yield_times(run, 50);
        co_await run.simulation.sleep(1us);
    }
}

TEST_CASE("simulation: resumptions are counted anew in every instant") {
    Run run;
    run.simulation.limit_resumptions(100);
    run.processes.spawn("p", yield_in_every_instant(run, 10));

    CHECK(run.simulation.run() == RunEnd::idle);
}

TEST_CASE("simulation: resumptions are counted anew at a time limit, too") {
    Run run;
    run.simulation.limit_resumptions(100);
    run.simulation.at(Time{9us}, run.writes('a'));
    run.processes.spawn("p", yield_times(run, 60));
    run.simulation.run(Time{5us});
    run.processes.spawn("q", yield_times(run, 60));

    CHECK(run.simulation.run() == RunEnd::idle);
}

TEST_CASE("simulation: a run that reaches `never` says so") {
    Run run;
    run.processes.spawn("p", sleep_and_note(run, 5us, "p"));
    run.processes.spawn("q", sleep_and_note(run, Duration::max(), "q"));
    run.processes.spawn("r", write_twice(run, 3us, 'r'));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::out_of_range);
    CHECK(run.log == "rrp@5us ");
    CHECK(run.simulation.now() == Time{5us});
}

TEST_CASE("simulation: the last time before `never` is reached") {
    Run run;
    run.simulation.at(never - Duration{1}, run.writes('a'));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.simulation.now() == never - Duration{1});
}

Task<> arrive(Run& run) {
    co_await run.barrier.arrive();
}

Task<> acquire_twice(Run& run) {
    const Resource::Lease first = co_await run.resource.acquire();
    const Resource::Lease second = co_await run.resource.acquire();
}

/// Waits forever, for something with a number.
struct Silence {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) const {
        handle.promise().waits_for({"a message from node", node});
    }
    static void await_resume() noexcept {}

    int node;
};

Task<> receive(int node) {
    co_await Silence{node};
}

Task<> receive_through_a_child(int node) {
    co_await receive(node);
}

TEST_CASE("simulation: after a deadlock it is known which processes wait, and for what") {
    Run run;
    run.processes.spawn("getter", get_and_write(run, 'x'));
    run.processes.spawn("finisher", sleep_and_note(run, 1us, "done"));
    run.processes.spawn("runner", arrive(run));
    run.processes.spawn("walker", arrive(run));
    run.processes.spawn("asker", acquire_twice(run));
    run.processes.spawn("rank 0", receive_through_a_child(0));
    run.processes.spawn("rank 7", receive(7));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK_FALSE(run.processes.finished());
    CHECK(listed(run.simulation.waiting()) ==
          "getter: a value in a channel\n"
          "runner: the others at a barrier\n"
          "walker: the others at a barrier\n"
          "asker: a unit of a resource\n"
          "rank 0: a message from node 0\n"
          "rank 7: a message from node 7\n");
}

TEST_CASE("simulation: at a time limit, sleepers are among those who wait") {
    Run run;
    run.processes.spawn("sleeper", sleep_and_note(run, 9us, "x"));
    run.processes.spawn("getter", get_and_write(run, 'x'));

    run.simulation.run(Time{5us});

    CHECK(listed(run.simulation.waiting()) ==
          "sleeper: its own computation or timer\n"
          "getter: a value in a channel\n");
}

TEST_CASE("simulation: a process that was woken no longer waits") {
    Run run;
    run.processes.spawn("getter", get_and_write(run, 'x'));
    run.simulation.run();

    run.channel.put(0);

    CHECK(run.simulation.waiting().empty());
}

Task<> start_a_getter(Run& run) {
    const Pending<> getter =
        run.simulation.start(run.simulation.running_process(), get_and_write(run, 'x'));
    co_await run.barrier.arrive();
}

TEST_CASE("simulation: a task started as part of the running process waits in its name") {
    Run run;
    run.processes.spawn("starter", start_a_getter(run));

    run.simulation.run();

    CHECK(listed(run.simulation.waiting()) ==
          "starter: the others at a barrier\n"
          "starter: a value in a channel\n");
}

Task<> leave_a_getter(Run& run, std::vector<Pending<>>& left) {
    left.push_back(run.simulation.start(run.simulation.running_process(), get_and_write(run, 'x')));
    co_await run.barrier.arrive();
}

TEST_CASE("simulation: a task keeps its process when the one that started it is destroyed") {
    Run run;
    std::vector<Pending<>> left;
    run.processes.spawn("a name too long to be kept inside of a string object",
                        leave_a_getter(run, left));
    run.simulation.run();

    run.processes.drop();

    CHECK(listed(run.simulation.waiting()) ==
          "a name too long to be kept inside of a string object: a value in a channel\n");
}

/// An event that starts a task as part of a process.
struct Starter {
    Run& run;
    ProcessPtr process;
    std::vector<Pending<>> started{};

    void start(std::uint32_t /*unused*/) {
        started.push_back(run.simulation.start(process, get_and_write(run, 'x')));
    }
    void start_to_sleep(std::uint32_t /*unused*/) {
        started.push_back(run.simulation.start(process, sleep_and_note(run, 10us, "awake")));
    }
};

TEST_CASE(
    "simulation: a task started by an event or a closing action waits in its process's name") {
    Run run;
    Starter starter{run, make_process("recovery")};
    run.simulation.at(Time{6us}, action<&Starter::start>(starter));
    run.simulation.at_end_of_instant(action<&Starter::start>(starter));

    run.simulation.run();

    CHECK(listed(run.simulation.waiting()) ==
          "recovery: a value in a channel\n"
          "recovery: a value in a channel\n");
}

TEST_CASE("simulation: what an event starts keeps the run alive only if its process does") {
    const auto end_of_run = [](EventKind kind, bool counts) {
        Run run;
        Starter starter{run, make_process("recovery", kind)};
        run.simulation.count_standby(counts);
        run.simulation.at(Time{6us}, action<&Starter::start_to_sleep>(starter));
        run.simulation.run();
        return run.simulation.now();
    };

    for (const bool counts : {false, true}) {
        CHECK(end_of_run(EventKind::foreground, counts) == Time{16us});
        CHECK(end_of_run(EventKind::daemon, counts) == Time{6us});
    }
    CHECK(end_of_run(EventKind::standby, false) == Time{6us});
    CHECK(end_of_run(EventKind::standby, true) == Time{16us});
}

Task<> fail_after(Run& run, Duration wait) {
    co_await run.simulation.sleep(wait);
    throw std::runtime_error("the process has failed");
}

TEST_CASE("simulation: an exception in a process leaves the run at that instant") {
    Run run;
    run.processes.spawn("p", sleep_and_note(run, 5us, "p"));
    run.processes.spawn("q", fail_after(run, 5us));
    run.processes.spawn("r", sleep_and_note(run, 5us, "r"));
    run.simulation.at_end_of_instant(run.writes('.'));

    CHECK_THROWS_WITH_AS(run.simulation.run(), "the process has failed", std::runtime_error);
    CHECK(run.simulation.now() == Time{5us});
    CHECK(run.log == ".p@5us ");
}

TEST_CASE("simulation: every event that fired is counted, and no cancelled one") {
    Run run;
    run.simulation.after(1us, run.writes('a'));
    run.simulation.cancel(run.simulation.after(2us, run.writes('x')));
    run.simulation.after(3us, run.writes('d'), EventKind::daemon);
    run.processes.spawn("p", sleep_and_note(run, 4us, "p"));

    run.simulation.run();

    CHECK(run.simulation.events_fired() == 3);
}

/// Reads, in an event, what another thread would see.
struct Watcher {
    const Progress& progress;
    std::uint64_t events = 0;
    Time now{};

    void look(std::uint32_t /*unused*/) {
        events = progress.events;
        now = Time{Duration{progress.now_ps}};
    }
};

TEST_CASE("simulation: how far the run is can be read from outside, as of the last instant begun") {
    Run run;
    Progress progress;
    Watcher watcher{progress};
    run.simulation.report_to(&progress);
    run.simulation.at(Time{1us}, run.writes('a'));
    run.simulation.at(Time{1us}, run.writes('b'));
    run.simulation.at(Time{5us}, run.writes('c'));
    run.simulation.at(Time{5us}, action<&Watcher::look>(watcher));

    run.simulation.run();

    CHECK(watcher.now == Time{5us});
    CHECK(watcher.events == 2);
}

TEST_CASE("simulation: a run that is no longer told to report leaves the report as it is") {
    Run run;
    Progress progress;
    run.simulation.report_to(&progress);
    run.simulation.report_to(nullptr);
    run.simulation.at(Time{1us}, run.writes('a'));

    run.simulation.run();

    CHECK(progress.now_ps == 0);
    CHECK(progress.events == 0);
}

}  // namespace
}  // namespace paceline::simulation_test
