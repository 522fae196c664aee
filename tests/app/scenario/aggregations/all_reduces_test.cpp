#include "app/scenario/aggregations/all_reduces.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::all_reduces_test {
namespace {

using doctest::Approx;

AllReducePlan plan_of(const std::string& text, const WorkerShape& shape) {
    const Json json = Json::parse(text);
    const std::string file = "test.json";
    return read_all_reduce({&json, &file, "all_reduce"}, shape);
}

// 7.2 MB at 1 Gbps, 25 us per link.
struct Star {
    TemporaryFolder folder;
    std::string file = folder.write("star.json", R"({
        "cluster": {"nodes": 4,
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}}},
        "workload": {"gradient": "7200000B", "step_time": "5ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 1}})");

    [[nodiscard]] Metrics run(int nodes, const std::string& all_reduce,
                              const std::vector<std::string>& more = {}) const {
        std::vector<std::string> settings{
            fmt::format("cluster.nodes={}", nodes),
            fmt::format(R"(algorithm={{"kind": "dense", "all_reduce": {}}})", all_reduce)};
        settings.insert(settings.end(), more.begin(), more.end());
        return run_point(read_study(file, settings).points.front().scenario, nullptr);
    }
};

// 4 machines of 4 devices with cards of 1 Gbps; a message between them takes 54 us and 7.3728 MB in
// chunks that divide.
struct CardMachines {
    TemporaryFolder folder;
    std::string file = folder.write("machines.json", R"({
        "cluster": {"nodes": 4, "devices_per_node": 4,
            "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps", "latency": "2us"}},
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}}},
        "workload": {"gradient": "7372800B", "tensors": 3, "gradient_time": "3ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 1}})");

    [[nodiscard]] Metrics run(int cards, const std::string& algorithm,
                              const std::string& library = "{}") const {
        return run_point(read_study(file, {fmt::format("cluster.nics={}", cards),
                                           "algorithm=" + algorithm, "cluster.library=" + library})
                             .points.front()
                             .scenario,
                         nullptr);
    }
    // Of `rounds` rounds of 16 devices in rings that have a part of `share` of all.
    [[nodiscard]] static double seconds(int rounds, int cards, double share = 1) {
        return rounds * (54e-6 + share * 7.3728e6 * 8e-9 / cards / 16);
    }
};

constexpr double latency = 50e-6;
constexpr double whole = 7.2e6 * 8 / 1e9;  // seconds to send all bytes over one link

void check_step(const Metrics& m, double expected) {
    CHECK(m.outcome == "finished");
    CHECK(m.step_time_s.value() == Approx(expected).epsilon(1e-9));
    CHECK(m.model_step_time_s.value() == Approx(expected).epsilon(1e-9));
}

TEST_CASE("all-reduce: every name is the method that it says") {
    CHECK(plan_of(R"("ring")", {4, 1}).method == AllReduce::ring);
    CHECK(plan_of(R"("recursive-doubling")", {4, 1}).method == AllReduce::recursive_doubling);
    CHECK(plan_of(R"("halving-doubling")", {4, 1}).method == AllReduce::halving_doubling);
    CHECK(plan_of(R"("tree")", {4, 1}).method == AllReduce::tree);
    CHECK(plan_of(R"("parameter-server")", {4, 1}).method == AllReduce::parameter_server);
    CHECK(plan_of(R"("hierarchical")", {4, 1}).method == AllReduce::hierarchical);
    CHECK(plan_of(R"("automatic")", {4, 1}).method == AllReduce::automatic);
}

TEST_CASE("all-reduce: servers stand behind the workers, or on the first of them") {
    const AllReducePlan named = plan_of(R"("parameter-server")", {6, 1});
    const AllReducePlan own =
        plan_of(R"({"kind": "parameter-server", "servers": 3, "placement": "own-nodes"})", {6, 1});
    const AllReducePlan shared =
        plan_of(R"({"kind": "parameter-server", "servers": 6, "placement": "workers"})", {6, 4});

    CHECK(named.servers == 1);
    CHECK(named.first_server_node == 6);
    CHECK(own.servers == 3);
    CHECK(own.first_server_node == 6);
    CHECK(shared.servers == 6);
    CHECK(!shared.first_server_node);
}

TEST_CASE("all-reduce: a hierarchy has the devices of a machine, or all that there are") {
    CHECK(plan_of(R"("hierarchical")", {8, 4}).devices == 4);
    CHECK(plan_of(R"("hierarchical")", {3, 4}).devices == 3);
    CHECK(plan_of(R"("hierarchical")", {5, 1}).devices == 1);
    CHECK_THROWS_AS(plan_of(R"("hierarchical")", {6, 4}), ConfigError);
}

TEST_CASE("all-reduce: rings are one, or as many as a machine of several devices has cards") {
    constexpr auto per_card = R"({"kind": "ring", "rings": "per-card"})";
    CHECK(plan_of(R"({"kind": "ring"})", {8, 4, {}, 2}).cards == 1);
    CHECK(plan_of(R"({"kind": "ring", "rings": "one"})", {8, 4, {}, 2}).cards == 1);
    CHECK(plan_of(per_card, {8, 4, {}, 2}).cards == 2);
    CHECK(plan_of(per_card, {8, 4, {}, 2}).devices == 4);
    CHECK(plan_of(per_card, {8, 4, {}, 1}).cards == 1);
    const AllReducePlan sliced = plan_of(
        R"({"kind": "pipelined-ring", "rings": "per-card", "in_flight": 3})", {8, 4, {}, 4});
    CHECK(sliced.method == AllReduce::pipelined_ring);
    CHECK(sliced.cards == 4);
    CHECK(sliced.slices.in_flight == 3);
    CHECK_THROWS_AS(plan_of(per_card, {8, 1, {}, 1}), ConfigError);
}

TEST_CASE("all-reduce: a ring for each card takes a part of the vector through it") {
    const CardMachines machines;
    constexpr auto plan =
        R"({{"kind": "dense", "schedule": "{}", "aggregation": {{"kind": "all-reduce", "plan": {}}}}})";
    for (const int cards : {1, 2, 4}) {
        CAPTURE(cards);
        check_step(machines.run(cards, fmt::format(plan, "whole",
                                                   R"({"kind": "ring", "rings": "per-card"})")),
                   3e-3 + CardMachines::seconds(30, cards));
        check_step(machines.run(cards, fmt::format(plan, "whole", R"("ring")")),
                   3e-3 + CardMachines::seconds(30, 1));
    }
}

// Messages take longer than computing, so a step takes the first piece's computing and all
// messages.
TEST_CASE("all-reduce: so do those of pieces beside backward, one after the other") {
    const CardMachines machines;
    constexpr auto pieces = R"({{"kind": "dense", "schedule": "tensors",
        "aggregation": {{"kind": "all-reduce", "plan": {{"kind": "ring", "rings": "{}"}}}}}})";
    const double first = machines.run(1, fmt::format(pieces, "one")).step_time_s.value() -
                         3 * CardMachines::seconds(30, 1, 1.0 / 3);
    CHECK(first > 0);
    CHECK(first < 3e-3);
    for (const int cards : {1, 2, 4})
        check_step(machines.run(cards, fmt::format(pieces, "per-card")),
                   first + 3 * CardMachines::seconds(30, cards, 1.0 / 3));
}

TEST_CASE("all-reduce: a library may have a ring for each card, but for one device of a machine") {
    const CardMachines machines;
    const auto library_of = [](std::string_view rings) {
        return fmt::format(R"({{"all_reduce": {{"kind": "ring", "rings": "{}"}}}})", rings);
    };
    constexpr auto by = R"({{"kind": "sgd", "codec": "fp16",
        "aggregation": {{"kind": "all-reduce", "plan": "library", "machines": "{}"}}}})";
    const std::string flat = fmt::format(by, "flat");
    const double one = machines.run(4, flat, library_of("one")).step_time_s.value();
    const double all = machines.run(4, flat, library_of("per-card")).step_time_s.value();
    CHECK(one - all ==
          Approx(CardMachines::seconds(30, 1, 0.5) - CardMachines::seconds(30, 4, 0.5)));
    for (const char* way : {"leaders", "shards"})
        CHECK(machines.run(4, fmt::format(by, way), library_of("one")).step_time_s ==
              machines.run(4, fmt::format(by, way), library_of("per-card")).step_time_s);
}

TEST_CASE("all-reduce: gathers and reduces of zero go around a ring for each card") {
    const CardMachines machines;
    for (const int stage : {1, 2, 3})
        for (const int cards : {1, 2, 4}) {
            CAPTURE(stage);
            CAPTURE(cards);
            const auto of_rings = [&](std::string_view rings) {
                return machines.run(
                    cards,
                    fmt::format(R"({{"kind": "zero", "stage": {}, "unit": "1kB", "rings": "{}"}})",
                                stage, rings));
            };
            const Metrics one = of_rings("one");
            const Metrics all = of_rings("per-card");
            CHECK(one.step_time_s.value() == Approx(one.model_step_time_s.value()).epsilon(1e-9));
            CHECK(all.step_time_s.value() == Approx(all.model_step_time_s.value()).epsilon(1e-9));
            // What is left when computing hides nothing: 3 units, each gathered once, or twice in
            // stage 3, and reduced once
            const int messages = 3 * (stage == 3 ? 3 : 2);
            CHECK(one.step_time_s.value() - all.step_time_s.value() ==
                  Approx(messages * (CardMachines::seconds(15, 1, 1.0 / 3) -
                                     CardMachines::seconds(15, cards, 1.0 / 3)))
                      .epsilon(1e-9));
        }
}

TEST_CASE("all-reduce: a tree takes log2 n (L + S/B) up, and as much down") {
    const Star star;
    for (const auto& [n, levels] : {std::pair{1, 0}, {2, 1}, {4, 2}, {8, 3}, {16, 4}}) {
        CAPTURE(n);
        check_step(star.run(n, R"("tree")"), 5e-3 + 2 * levels * (latency + whole));
    }
    // Five places give three levels up. On the way down the last place has the vector after 3 S/B
    // and one latency, place 3 after two of each: 2 (L + t) against 3 t + L.
    check_step(star.run(5, R"("tree")"),
               5e-3 + 3 * (latency + whole) + std::max(2 * (latency + whole), 3 * whole + latency));
}

TEST_CASE("all-reduce: servers on nodes of their own take n S/q each, twice") {
    const Star star;
    for (const int n : {1, 2, 3, 8, 9})
        for (const int q : {1, 2, 3}) {
            if (q > n) continue;
            CAPTURE(n);
            CAPTURE(q);
            const Metrics m =
                star.run(n, fmt::format(R"({{"kind": "parameter-server", "servers": {}}})", q));

            check_step(m, 5e-3 + 2 * (latency + n * whole / q));
            CHECK(m.nodes == n);
            CHECK(m.bytes_sent_per_node_per_step.value() == Approx(7.2e6));
            CHECK(m.bytes_received_per_node_per_step.value() == Approx(7.2e6));
        }
}

TEST_CASE("all-reduce: servers on the workers take (n-1) S/q each, twice") {
    const Star star;
    for (const int n : {2, 3, 8, 9})
        for (const int q : {1, 2, 3}) {
            if (q > n) continue;
            CAPTURE(n);
            CAPTURE(q);
            const Metrics m = star.run(
                n,
                fmt::format(
                    R"({{"kind": "parameter-server", "servers": {}, "placement": "workers"}})", q));

            check_step(m, 5e-3 + 2 * (latency + (n - 1) * whole / q));
            // Each of n workers pushes and is answered; a worker's messages to itself are free.
            CHECK(m.bytes_sent_per_node_per_step.value() == Approx(2.0 * (n - 1) / n * 7.2e6));
        }
}

TEST_CASE("all-reduce: as many servers as workers, on the workers, move a ring's bytes") {
    const Star star;
    const Metrics servers =
        star.run(8, R"({"kind": "parameter-server", "servers": 8, "placement": "workers"})");
    const Metrics ring = star.run(8, R"("ring")");

    CHECK(servers.bytes_sent_per_node_per_step == ring.bytes_sent_per_node_per_step);
    CHECK(ring.sim_time_s - servers.sim_time_s == Approx(12 * latency).epsilon(1e-6));
}

TEST_CASE("all-reduce: automatic is doubling up to 2,048 bytes and halving above") {
    const Star star;
    for (const int n : {1, 2, 4, 6, 8}) {
        CAPTURE(n);
        for (const auto& [gradient, method] :
             {std::pair{"2048B", "recursive-doubling"}, {"2052B", "halving-doubling"}}) {
            const std::string size = fmt::format("workload.gradient={}", gradient);
            const Metrics automatic = star.run(n, R"("automatic")", {size});

            CHECK(automatic.sim_time_s ==
                  star.run(n, fmt::format("\"{}\"", method), {size}).sim_time_s);
            CHECK(automatic.model_step_time_s.value() ==
                  Approx(automatic.step_time_s.value()).epsilon(1e-9));
        }
    }
}

TEST_CASE("all-reduce: a hierarchy of nodes with one device is the ring") {
    const Star star;

    CHECK(star.run(6, R"("hierarchical")").sim_time_s == star.run(6, R"("ring")").sim_time_s);
    check_step(star.run(6, R"("hierarchical")"), 5e-3 + 10 * (latency + whole / 6));
}

TEST_CASE("all-reduce: gradient dropping's dense steps and DGC's small tensors use servers, too") {
    const Star star;
    const std::string dropping =
        R"(algorithm={"kind": "gradient-dropping", "dense_steps": 1, "all_reduce": "parameter-server"})";
    const std::string dgc = R"(algorithm={"kind": "dgc", "selection": "free",
                                          "all_reduce": "parameter-server"})";

    check_step(star.run(4, R"("ring")", {dropping}), 5e-3 + 2 * (latency + 4 * whole));
    const Metrics m =
        star.run(4, R"("ring")", {dgc, R"(workload={"profile": "resnet-50", "step_time": "5ms"})"});
    CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
}

}  // namespace
}  // namespace paceline::all_reduces_test
