#include "sim/messages/background.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/messages/transfer.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::sim_background_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link gigabit{1_Gbps, 25us};

struct Run {
    Simulation simulation;
    Network network{simulation, make_star(4, gigabit, gigabit)};
    Time done{};
    Processes others{simulation, EventKind::daemon};
    Processes processes{simulation};

    void add(const BackgroundSource& source, std::uint64_t seed = 1, int to = 1) {
        others.spawn("background",
                     background_traffic(network, 0, to, source, RandomStreams(seed).stream("b")));
    }
    [[nodiscard]] Bytes sent() const { return network.traffic(0).sent; }
};

Task<> wait(Run& run, Duration time) {
    co_await run.simulation.sleep(time);
}

Task<> transfer(Run& run, int from, int to, Bytes size) {
    co_await Send(run.network, from, to, 7, size, Protocol::eager);
    run.done = run.simulation.now();
}

Task<> receive(Run& run, int to, int from) {
    co_await Receive(run.network, to, from, 7);
}

Bytes sent_in(Duration time, const BackgroundSource& source, std::uint64_t seed = 1) {
    Run run;
    run.add(source, seed);
    run.processes.spawn("clock", wait(run, time));
    CHECK(run.simulation.run() == RunEnd::idle);
    CHECK(run.simulation.now() == Time{time});
    return run.sent();
}

TEST_CASE("background: a source sends at its rate where links leave it") {
    // A message begins every 16 ms and has drained 8 ms later.
    CHECK(sent_in(10s, {.rate = 500_Mbps, .message = 1_MB}) == 625 * 1_MB);
    CHECK(sent_in(10s, {.rate = 1_Gbps, .message = 1_MB}) == 1250 * 1_MB);
}

TEST_CASE("background: a source sends at the link's rate where that is less") {
    CHECK(sent_in(10s, {.rate = 7_Gbps, .message = 1_MB}) == 1250 * 1_MB);
}

TEST_CASE("background: a transfer on the same link has its max-min share") {
    for (const int sources : {1, 2, 3}) {
        CAPTURE(sources);
        Run run;
        for (int i = 0; i < sources; ++i) run.add({.rate = 1_Gbps, .message = 500_MB}, 1, 1 + i);
        run.processes.spawn("transfer", transfer(run, 0, 2, 125_MB));

        run.simulation.run();

        CHECK(run.done == Time{(1 + sources) * Duration{1s}});
    }
}

TEST_CASE("background: it shares nothing with what crosses other links") {
    Run run;
    run.add({.rate = 1_Gbps, .message = 1_MB});
    run.processes.spawn("transfer", transfer(run, 2, 3, 125_MB));

    run.simulation.run();

    CHECK(run.done == Time{1s});
}

TEST_CASE("background: it keeps no run alive") {
    Run run;
    run.add({.rate = 1_Gbps, .message = 1_MB});
    run.add({.rate = 1_Gbps, .message = 1_MB, .on = 1s, .off = 1s, .drawn = true});

    CHECK(run.simulation.run() == RunEnd::idle);
    CHECK(run.simulation.now() == Time{});
}

TEST_CASE("background: a process deadlocked beside it is named, and the source is not") {
    Run run;
    run.add({.rate = 1_Gbps, .message = 1_MB});
    run.add({.rate = 1_Gbps, .message = 1_MB, .on = 1ms, .off = 1s, .drawn = false});
    run.processes.spawn("transfer", transfer(run, 0, 2, 125_MB));
    run.processes.spawn("forgotten", receive(run, 3, 2));

    CHECK(run.simulation.run() == RunEnd::idle);
    CHECK(run.done > Time{1s});
    const std::vector<Waiting> waiting = run.simulation.waiting();
    REQUIRE(waiting.size() == 1);
    CHECK(waiting[0].process == "forgotten");
    CHECK(waiting[0].what == "a message from node 2");
}

TEST_CASE("background: fixed times on and off follow one another from the beginning") {
    const BackgroundSource source{
        .rate = 1_Gbps, .message = 1_MB, .on = 2s, .off = 8s, .drawn = false};

    CHECK(sent_in(1s, source) == 125 * 1_MB);
    CHECK(sent_in(9s, source) == 250 * 1_MB);
    CHECK(sent_in(11s, source) == 375 * 1_MB);
    CHECK(sent_in(20s, source) == 500 * 1_MB);
}

TEST_CASE("background: a message under way when the source goes off is sent to its end") {
    // 1 s each; on for 1.5 s of 10: one begins at 0 s and one at 1 s.
    const BackgroundSource source{
        .rate = 1_Gbps, .message = 125_MB, .on = 1500ms, .off = 8500ms, .drawn = false};

    CHECK(sent_in(9s, source) == 2 * 125_MB);
    CHECK(sent_in(19s, source) == 4 * 125_MB);
}

TEST_CASE("background: drawn times have their share of the time, also at the beginning") {
    const BackgroundSource source{
        .rate = 100_Mbps, .message = Bytes{500'000}, .on = 2s, .off = 8s, .drawn = true};
    double share = 0;
    int begin_on = 0;
    constexpr int seeds = 40;
    for (int seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        const auto number = static_cast<std::uint64_t>(seed);
        share +=
            static_cast<double>(sent_in(2000s, source, number).count) / (12.5e6 * 2000) / seeds;
        begin_on += sent_in(40ms, source, number) > Bytes{0} ? 1 : 0;
    }

    // The on time of a cycle deviates by as much as its mean, so 40 x 200 cycles leave about 1.5 %.
    CHECK(share == Approx(0.2).epsilon(0.06));
    CHECK(begin_on >= 1);  // 8 expected, give or take 2.5
    CHECK(begin_on <= 19);
}

TEST_CASE("background: the same seed sends the same messages, and another seed others") {
    const BackgroundSource source{
        .rate = 100_Mbps, .message = Bytes{500'000}, .on = 2s, .off = 8s, .drawn = true};

    CHECK(sent_in(500s, source, 3) == sent_in(500s, source, 3));
    CHECK(sent_in(500s, source, 3) != sent_in(500s, source, 4));
}

TEST_CASE("background: it can be dropped half-way") {
    Simulation simulation;
    Network network(simulation, make_star(4, gigabit, gigabit));
    {
        Processes others(simulation);
        others.spawn("background",
                     background_traffic(network, 0, 1, {.rate = 1_Gbps, .message = 1_MB},
                                        RandomStreams(1).stream("b")));
        simulation.run(Time{100500us});
    }
    CHECK(simulation.run() == RunEnd::idle);
    CHECK(network.traffic(0).sent == 13 * 1_MB);  // the thirteenth was under way
}

TEST_CASE("background: a source without rate, message or time on is a programming error") {
    for (const BackgroundSource& source :
         {BackgroundSource{.rate = {}, .message = 1_MB},
          BackgroundSource{.rate = 1_Gbps, .message = {}},
          BackgroundSource{.rate = 1_Gbps, .message = 1_MB, .on = 0s}}) {
        Run faulty;
        faulty.add(source);
        CHECK_THROWS_AS(faulty.simulation.run(), LogicError);
    }
}

}  // namespace
}  // namespace paceline::sim_background_test
