// Links with jitter, losses and changing rates, from the scenario to the figures.
#include "app/scenario/cluster/access.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/cluster/link_traces.hpp"
#include "app/scenario/study.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "sim/engine/random.hpp"
#include "sim/network/loss.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/json/in_memory.hpp"
#include "topologies/fabrics/placed.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::access_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

// Two nodes on 8 Mbps: a ring all-reduce of 2 MB takes 2 x 1 s, after a gradient of 1 s.
struct Pair {
    TemporaryFolder folder;
    std::string file = folder.write("pair.json", R"({
        "cluster": {"nodes": 2,
            "fabric": {"kind": "star", "link": {"bandwidth": "8Mbps"}}},
        "workload": {"gradient": "2MB", "step_time": "1s"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 4}})");

    [[nodiscard]] Scenario read(const std::vector<std::string>& settings = {}) const {
        return read_study(file, settings).points.front().scenario;
    }
    [[nodiscard]] Metrics run(const std::vector<std::string>& settings = {}) const {
        return run_point(read(settings), nullptr);
    }
};

std::string access(const std::string& list) {
    return "cluster.access=[" + list + "]";
}
std::string link(const std::string& more) {
    return R"(cluster.fabric.link={"bandwidth": "8Mbps", )" + more + "}";
}

// ---- reading ----

TEST_CASE("access: each kind is read with its defaults") {
    const Pair pair;
    (void)pair.folder.write("x.csv", "time_s,up_mbps,down_mbps\n0,1,2\n2.5,0,0.5\n");

    const ClusterChoice cluster =
        pair.read({access(R"({"kind": "trace", "file": "x.csv", "nodes": [1]},
                            {"kind": "on-off", "nodes": [0], "on": "3s", "off": "1s"},
                            {"kind": "outages", "mean_between": "1min", "mean_length": "2s"},
                            {"kind": "outages", "transfers": "restart",
                             "schedule": [{"at": "1s", "for": "2s"}, {"at": "3s", "for": "1s"}]})")})
            .cluster;

    REQUIRE(cluster.access.size() == 4);
    CHECK(cluster.access[0].nodes == std::vector<int>{1});
    const LinkTrace& trace = *std::get<std::shared_ptr<const LinkTrace>>(cluster.access[0].kind);
    REQUIRE(trace.rows.size() == 2);
    CHECK(trace.rows[0].bandwidth == AccessBandwidth{1_Mbps, 2_Mbps});
    CHECK(trace.rows[1].at == 2500ms);
    CHECK(trace.rows[1].bandwidth == AccessBandwidth{Bandwidth{0}, Bandwidth{500'000}});
    CHECK(trace.period == 0s);
    const OnOff& on_off = std::get<OnOff>(cluster.access[1].kind);
    CHECK(on_off.on == 3s);
    CHECK(on_off.off == 1s);
    CHECK(on_off.law == LengthLaw::exponential);
    CHECK(on_off.bandwidth_off == Bandwidth{0});
    CHECK_FALSE(cluster.access[2].nodes);
    const Outages& drawn = *std::get<std::shared_ptr<const Outages>>(cluster.access[2].kind);
    CHECK(drawn.mean_between == 1min);
    CHECK(drawn.mean_length == 2s);
    CHECK(drawn.transfers == Transfers::pause);
    const Outages& listed = *std::get<std::shared_ptr<const Outages>>(cluster.access[3].kind);
    CHECK(listed.schedule.size() == 2);
    CHECK(listed.transfers == Transfers::restart);
}

TEST_CASE("access: a trace's period and phase are read, and all keys of an on/off process") {
    const Pair pair;
    (void)pair.folder.write("x.csv", "time_s,up_mbps,down_mbps\n0,1,2\n");

    const ClusterChoice cluster =
        pair.read({access(R"({"kind": "trace", "file": "x.csv", "nodes": [1], "period": "1min",
                             "phase": "random"},
                            {"kind": "on-off", "nodes": [0], "on": "3s", "off": "1s",
                             "law": "fixed", "bandwidth_off": "2Mbps", "phase": "random"})")})
            .cluster;

    const LinkTrace& trace = *std::get<std::shared_ptr<const LinkTrace>>(cluster.access[0].kind);
    CHECK(trace.period == 1min);
    CHECK(trace.phase == LinkPhase::random);
    const OnOff& on_off = std::get<OnOff>(cluster.access[1].kind);
    CHECK(on_off.law == LengthLaw::fixed);
    CHECK(on_off.bandwidth_off == 2_Mbps);
    CHECK(on_off.phase == LinkPhase::random);
}

LinkTrace read_trace(const std::string& table) {
    const std::string scenario = "folder/scenario.json";
    const Json file = "x.csv";
    const Sources sources = in_memory({{"folder/x.csv", table}});
    return read_link_trace({&file, &scenario, "access.file", &sources});
}

TEST_CASE("access: a trace may have blanks, empty lines, CR LF and a byte-order mark") {
    const LinkTrace trace =
        read_trace("\xEF\xBB\xBFtime_s,up_mbps,down_mbps\r\n0, 1 ,2\r\n\r\n  1e1,3,4\r\n");

    REQUIRE(trace.rows.size() == 2);
    CHECK(trace.rows[1].at == 10s);
    CHECK(trace.rows[1].bandwidth == AccessBandwidth{3_Mbps, 4_Mbps});
}

TEST_CASE("access: the columns of a trace stand in any order") {
    const LinkTrace trace = read_trace("down_mbps,time_s,up_mbps\n2,0,1\n4,10,3\n");

    REQUIRE(trace.rows.size() == 2);
    CHECK(trace.rows[0].bandwidth == AccessBandwidth{1_Mbps, 2_Mbps});
    CHECK(trace.rows[1].at == 10s);
    CHECK(trace.rows[1].bandwidth == AccessBandwidth{3_Mbps, 4_Mbps});
}

constexpr Bandwidth kbps(std::int64_t rate) {
    return {1000 * rate};
}

// Calls read(files) with the texts of the way down and, unless it is empty, of the way up.
template <class Read>
LinkTrace read_ways(const std::string& down, const std::string& up, const Read& read) {
    const std::string scenario = "folder/scenario.json";
    const Json names[] = {"x.down", "x.up"};
    const Sources sources = in_memory({{"folder/x.down", down}, {"folder/x.up", up}});
    TraceFiles files{{&names[0], &scenario, "access.file", &sources}};
    if (!up.empty()) files.up = Place{&names[1], &scenario, "access.file_up", &sources};
    return read(files);
}

LinkTrace read_packets(const std::string& down, const std::string& up, Duration interval) {
    return read_ways(down, up,
                     [interval](const TraceFiles& f) { return read_mahimahi(f, interval); });
}

// Returns the megabits of a period, into the node and out of it.
std::pair<double, double> megabits_of(const LinkTrace& trace) {
    double down = 0;
    double up = 0;
    for (std::size_t i = 0; i < trace.rows.size(); ++i) {
        const Duration end = i + 1 < trace.rows.size() ? trace.rows[i + 1].at : trace.period;
        const double s = to_seconds(end - trace.rows[i].at);
        down += s * static_cast<double>(trace.rows[i].bandwidth.down.bits_per_second) * 1e-6;
        up += s * static_cast<double>(trace.rows[i].bandwidth.up.bits_per_second) * 1e-6;
    }
    return {down, up};
}

// Worked by hand: 2 packets of 12,000 bits in the first 10 ms, none in the next, 3 in the last 5.
TEST_CASE(
    "access: a Mahimahi trace counts packets in intervals and wraps around at its last time") {
    const LinkTrace trace = read_packets("3\n10\n24\n24\n25\n", "", 10ms);

    CHECK(trace.period == 25ms);
    REQUIRE(trace.rows.size() == 3);
    CHECK(trace.rows[0].bandwidth == AccessBandwidth{kbps(2400), kbps(2400)});
    CHECK(trace.rows[1].at == 10ms);
    CHECK(trace.rows[1].bandwidth == AccessBandwidth{Bandwidth{0}, Bandwidth{0}});
    CHECK(trace.rows[2].at == 20ms);
    CHECK(trace.rows[2].bandwidth == AccessBandwidth{kbps(7200), kbps(7200)});
}

TEST_CASE("access, property: a Mahimahi trace carries its packets, whatever the interval") {
    RandomStream stream = RandomStreams(7).stream("packets");
    for (int round = 0; round < 50; ++round) {
        std::string text;
        int at = 0;
        const int packets = 1 + static_cast<int>(stream() % 200);
        for (int i = 0; i < packets; ++i) {
            at += static_cast<int>(stream() % 9);
            text += fmt::format("{}\n", i + 1 == packets ? at + 1 : at);
        }
        for (const Duration interval : {Duration{1ms}, Duration{7ms}, Duration{100ms}}) {
            const LinkTrace trace = read_packets(text, "", interval);
            CHECK(trace.period == (at + 1) * Duration{1ms});
            CHECK(megabits_of(trace).first == doctest::Approx(packets * 12e-3).epsilon(1e-5));
        }
    }
}

TEST_CASE("access: ways of unlike periods: the shorter one repeats within the longer one") {
    // up: one packet per 10 ms, wrapping at 10 ms; down: 2 packets per 10 ms, then 4, to 30 ms
    const LinkTrace trace = read_packets("5\n10\n15\n20\n21\n22\n25\n30\n", "10\n", 10ms);

    CHECK(trace.period == 30ms);
    REQUIRE(trace.rows.size() == 2);
    CHECK(trace.rows[0].bandwidth == AccessBandwidth{kbps(1200), kbps(2400)});
    CHECK(trace.rows[1].at == 20ms);
    CHECK(trace.rows[1].bandwidth == AccessBandwidth{kbps(1200), kbps(4800)});
}

// As in Pensieve's simulator: a rate holds from the time of the line before it.
TEST_CASE("access: a Pensieve trace holds each rate from the line before on") {
    const LinkTrace trace = read_ways("0.0\t9.9\n1.5\t2.0\n4\t0.5\n", "", &read_pensieve);

    CHECK(trace.period == 4s);
    REQUIRE(trace.rows.size() == 2);
    CHECK(trace.rows[0].bandwidth == AccessBandwidth{2_Mbps, 2_Mbps});
    CHECK(trace.rows[1].at == 1500ms);
    CHECK(trace.rows[1].bandwidth == AccessBandwidth{kbps(500), kbps(500)});
    CHECK(megabits_of(trace).first == doctest::Approx(1.5 * 2 + 2.5 * 0.5));
}

TEST_CASE("access: wrong lines of Mahimahi and Pensieve traces are refused with their number") {
    const auto told = [](const std::string& text, const auto& read) -> std::string {
        try {
            (void)read_ways(text, "", read);
        } catch (const ConfigError& error) {
            return std::string(error.path()) + ": " + std::string(error.problem());
        }
        return "none";
    };
    const auto packets = [](const TraceFiles& files) { return read_mahimahi(files, 100ms); };
    CHECK(told("5\n4\n", packets) == "line 2: 4ms is before the previous line");
    CHECK(told("1.5\n", packets) == "line 1: 1.5 is not a whole millisecond");
    CHECK(told("1 2\n", packets) == "line 1: has 2 numbers; a line has 1");
    CHECK(told("", packets).find("there is no line with numbers") != std::string::npos);
    CHECK(told("0\n", packets).find("line 1: the trace wraps around at its last time") == 0);
    CHECK(told("9000000000\n", [](const TraceFiles& files) {
              return read_mahimahi(files, 1ms);
          }).find("intervals of 1ms; set a longer \"interval\"") != std::string::npos);
    CHECK(told("0 1\n", &read_pensieve).find("line 1: a trace needs two lines or more") == 0);
    CHECK(told("0 1\n2 3\n2 1\n", &read_pensieve) ==
          "line 3: 2s is not later than the previous line, 2s");
}

TEST_CASE("access: the keys of a trace's format are read, and refused where they mean nothing") {
    const Pair pair;
    (void)pair.folder.write("a.down", "5\n10\n");
    (void)pair.folder.write("a.up", "10\n");
    (void)pair.folder.write("x.csv", "time_s,up_mbps,down_mbps\n0,1,2\n");
    const ClusterChoice cluster =
        pair.read({access(R"({"kind": "trace", "format": "mahimahi", "file": "a.down",
                             "file_up": "a.up", "interval": "5ms", "phase": "random"})")})
            .cluster;
    const LinkTrace& trace = *std::get<std::shared_ptr<const LinkTrace>>(cluster.access[0].kind);
    CHECK(trace.period == 10ms);
    CHECK(trace.phase == LinkPhase::random);
    REQUIRE(trace.rows.size() == 2);
    CHECK(trace.rows[0].bandwidth == AccessBandwidth{Bandwidth{0}, kbps(2400)});
    CHECK(trace.rows[1].bandwidth == AccessBandwidth{kbps(2400), kbps(2400)});
    for (const char* wrong :
         {R"({"kind": "trace", "file": "x.csv", "file_up": "a.up"})",
          R"({"kind": "trace", "file": "x.csv", "interval": "1s"})",
          R"({"kind": "trace", "file": "a.down", "format": "mahimahi", "interval": "1us"})"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS((void)pair.read({access(wrong)}), ConfigError);
    }
}

// The oracle is a link without a trace: a packet of 12,000 bits each millisecond is 12 Mbps.
TEST_CASE("access: a Mahimahi trace of a steady rate is a link of that rate") {
    const Pair pair;
    std::string steady;
    for (int ms = 1; ms <= 200; ++ms) steady += fmt::format("{}\n", ms);
    (void)pair.folder.write("steady", steady);
    const double traced =
        pair.run({access(R"({"kind": "trace", "format": "mahimahi", "file": "steady"})")})
            .sim_time_s;
    (void)pair.folder.write("own.csv", "time_s,up_mbps,down_mbps\n0,12,12\n");
    CHECK(traced == pair.run({access(R"({"kind": "trace", "file": "own.csv"})")}).sim_time_s);
}

TEST_CASE("access: an error in a trace names its file and line") {
    try {
        (void)read_trace("time_s,up_mbps,down_mbps\n0,1,2\n1,a,2\n");
        FAIL("must be refused");
    } catch (const ConfigError& error) {
        CHECK(error.file() == "folder/x.csv");
        CHECK(error.path() == "line 3");
        CHECK(error.problem() == "\"a\" is not a bandwidth in Mbps: a number from 0 to 1000000000");
    }
}

// ---- which links ----

FabricChoice fabric_of(const std::string& json, int nodes) {
    const Json parsed = Json::parse(json);
    const std::string file = "fabric.json";
    return read_fabric({&parsed, &file, "fabric"}, nodes);
}

TEST_CASE("access: a node's own links are those of its cable, whoever it talks to") {
    const std::string cable = R"("link": {"bandwidth": "1Gbps"})";
    for (const std::string& fabric :
         {R"({"kind": "star", )" + cable + "}",
          R"({"kind": "leaf-spine", "hosts_per_leaf": 2, "spines": 2, )" + cable + "}",
          R"({"kind": "fat-tree", )" + cable + "}",
          R"({"kind": "dumbbell", "bottleneck": {"bandwidth": "1Gbps"}, )" + cable + "}",
          R"({"kind": "graph", "switches": ["a", "b"], "cables": [{"between": ["a", "b"]},
              {"between": [0, "a"]}, {"between": [1, "a"]}, {"between": [2, "a"]},
              {"between": [3, "b"]}, {"between": [4, "b"]}, {"between": [5, "b"]}], )" +
              cable + "}"}) {
        CAPTURE(fabric);
        constexpr int nodes = 6;
        const FabricChoice choice = fabric_of(fabric, nodes);
        const Fabric made = choice.make(nodes, 1);

        const std::vector<Access> accesses = accesses_of(made, nodes);

        CHECK(choice.one_cable_per_node);
        REQUIRE(accesses.size() == nodes);
        Route route;
        for (int from = 0; from < nodes; ++from)
            for (int to = 0; to < nodes; ++to) {
                if (from == to) continue;
                made.find_route(from, to, route);
                CHECK(route.front() == accesses[static_cast<std::size_t>(from)].up);
                CHECK(route.back() == accesses[static_cast<std::size_t>(to)].down);
            }
    }
}

TEST_CASE("access: nodes of several cables have no links of their own") {
    CHECK(!fabric_of(R"({"kind": "ring", "link": {"bandwidth": "1Gbps"}})", 4).one_cable_per_node);
    CHECK(!fabric_of(R"({"kind": "graph", "link": {"bandwidth": "1Gbps"},
                         "cables": [{"between": [0, 1]}, {"between": [1, 2]}, {"between": [2, 0]}]})",
                     3)
               .one_cable_per_node);
}

TEST_CASE("access: a star's ways have their own bandwidths, and a node alone has no links") {
    const FabricChoice star = fabric_of(R"({"kind": "star", "link": {"preset": "cable"}})", 2);

    const std::vector<Access> accesses = accesses_of(star.make(2, 1), 2);

    CHECK(accesses[1].up == star_up(1));
    CHECK(accesses[1].down == star_down(1, 2));
    CHECK(accesses[1].usual == AccessBandwidth{1_Mbps, 5_Mbps});
    CHECK(accesses_of(star.make(1, 1), 1).empty());
}

TEST_CASE("access: the links of a node that shares its place are found by who stands elsewhere") {
    const std::string cable = R"({"kind": "star", "link": {"bandwidth": "1Gbps"}})";
    const Fabric placed = make_placed({0, 0, 1}, fabric_of(cable, 2).make(2, 1));

    const std::vector<Access> accesses = accesses_of(placed, 1, std::vector{0, 0, 1});

    REQUIRE(accesses.size() == 1);
    CHECK(accesses[0].up == star_up(0));
    CHECK(accesses[0].down == star_down(0, 2));
    CHECK(accesses_of(placed, 1, std::vector{0, 0, 0}).empty());
}

// ---- running ----

TEST_CASE("access: a run pauses through an outage, and is as much later as it lasts") {
    const Pair pair;
    const auto outage = [](const std::string& transfers) {
        return access(R"({"kind": "outages", "nodes": [1], "transfers": ")" + transfers + R"(",
                          "schedule": [{"at": "1500ms", "for": "3s"}]})");
    };

    const Metrics plain = pair.run();
    const Metrics paused = pair.run({outage("pause")});
    const Metrics restarted = pair.run({outage("restart")});

    CHECK(plain.sim_time_s == Approx(12).epsilon(1e-12));
    CHECK(paused.sim_time_s == Approx(15).epsilon(1e-12));
    CHECK(restarted.sim_time_s == Approx(15.5).epsilon(1e-12));  // half a second is sent again
    CHECK(restarted.bytes_sent_per_node_per_step == plain.bytes_sent_per_node_per_step);
}

TEST_CASE("access: a trace of the link's own bandwidth changes nothing") {
    const Pair pair;
    (void)pair.folder.write("own.csv", "time_s,up_mbps,down_mbps\n0,8,8\n1,8,8\n");

    CHECK(pair.run({access(R"({"kind": "trace", "file": "own.csv", "period": "1700ms"})")})
              .sim_time_s == Approx(pair.run().sim_time_s).epsilon(1e-12));
}

TEST_CASE("access: a trace that slows one way slows what goes that way") {
    const Pair pair;
    (void)pair.folder.write("up.csv", "time_s,up_mbps,down_mbps\n0,4,8\n");

    // Both steps of the ring leave node 0, too.
    CHECK(pair.run({access(R"({"kind": "trace", "file": "up.csv", "nodes": [0]})")}).sim_time_s ==
          Approx(4 * (1 + 2 * 2)).epsilon(1e-12));
}

TEST_CASE("access: fixed on/off times stretch the exchange by their share") {
    const Pair pair;

    // The first exchange begins at 1 s and needs 2 s of sending, as do the later ones. The link is
    // up in 0..2, 3..5, 6..8, ..
    const Metrics metrics =
        pair.run({access(R"({"kind": "on-off", "on": "2s", "off": "1s", "law": "fixed"})"),
                  "stop.iterations=2"});

    CHECK(metrics.sim_time_s == Approx(8).epsilon(1e-12));
}

TEST_CASE("access: a link that goes down for good is a deadlock that names who waits") {
    const Pair pair;
    (void)pair.folder.write("ends.csv", "time_s,up_mbps,down_mbps\n0,8,8\n1.5,0,0\n");

    const Metrics metrics = pair.run({access(R"({"kind": "trace", "file": "ends.csv", "nodes": [0]},
                   {"kind": "outages", "mean_between": "1s", "mean_length": "1s"})")});

    CHECK(metrics.outcome == "deadlock");
    CHECK(metrics.outcome_details.find("node 0") != std::string::npos);
    CHECK(metrics.outcome_details.find("node 1") != std::string::npos);
}

TEST_CASE("access: random changes are the same under a seed, and others under another") {
    const Pair pair;
    const std::vector<std::string> settings{
        access(R"({"kind": "on-off", "on": "2s", "off": "1s"},
                  {"kind": "outages", "mean_between": "4s", "mean_length": "1s",
                   "transfers": "restart"})"),
        link(R"("jitter": {"kind": "log-normal", "median": "5ms", "sigma": 1}, "loss": 0.01)")};
    std::vector<std::string> other = settings;
    other.emplace_back("seed=2");

    const double once = pair.run(settings).sim_time_s;

    CHECK(pair.run(settings).sim_time_s == once);
    CHECK(pair.run(other).sim_time_s != once);
    CHECK(once > pair.run().sim_time_s);
}

TEST_CASE("access: servers' links do not change") {
    const Pair pair;

    // All workers share the server's link: 2 s in and 2 s out in the first step.
    const std::vector<std::string> server{R"(algorithm={"kind": "ps-sync"})"};
    std::vector<std::string> with_outage = server;
    with_outage.push_back(
        access(R"({"kind": "outages", "schedule": [{"at": "0s", "for": "500ms"}]})"));

    CHECK(pair.run(with_outage).sim_time_s == pair.run(server).sim_time_s);
}

TEST_CASE("access: no closed form is claimed, and none is for links that jitter") {
    const Pair pair;

    CHECK(pair.run().model_step_time_s.has_value());
    CHECK(!pair.run({access(R"({"kind": "on-off", "on": "2s", "off": "1s"})")}).model_step_time_s);
    CHECK(!pair.run({link(R"("jitter": {"kind": "normal", "mean": "1ms", "sd": "1ms"})")})
               .model_step_time_s);
    CHECK(pair.run({"cluster.access=[]"}).model_step_time_s.has_value());
}

TEST_CASE("loss: if it limits no flow, the closed form of a star uses the goodput") {
    const Pair pair;
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "dense", "all_reduce": "halving-doubling"})",
          R"({"kind": "dsgd", "mixing": {"kind": "ring"}})"})
        for (const int nodes : {2, 3, 4, 8}) {
            CAPTURE(algorithm);
            CAPTURE(nodes);
            const Metrics metrics = pair.run({link(R"("loss": 0.001, "latency": "1ms")"),
                                              fmt::format("algorithm={}", algorithm),
                                              fmt::format("cluster.nodes={}", nodes)});

            REQUIRE(metrics.model_step_time_s.has_value());
            CHECK(*metrics.step_time_s == Approx(*metrics.model_step_time_s).epsilon(1e-6));
        }
}

TEST_CASE("loss: if it limits flows, no closed form is claimed, and flows run at the limit") {
    const Pair pair;
    const Metrics metrics = pair.run({link(R"("loss": 0.02, "latency": "50ms")")});

    const double loss = 1 - 0.98 * 0.98;
    const double rate = 1448 / 0.2 * std::sqrt(1.5 / loss);
    CHECK(!metrics.model_step_time_s);
    CHECK(*metrics.step_time_s == Approx(1 + 2 * (1e6 / rate + 0.1)).epsilon(1e-6));
}

TEST_CASE("jitter: a delay without spread is a latency") {
    const Pair pair;

    CHECK(pair.run({link(R"("jitter": {"kind": "normal", "mean": "20ms", "sd": "0s"})")})
              .sim_time_s == Approx(pair.run({link(R"("latency": "20ms")")}).sim_time_s));
}

TEST_CASE("jitter: it lengthens a ring's steps by the mean of the later of two neighbors' delays") {
    // On two nodes a step of the ring ends when both messages have arrived: at the later of two
    // sums of two draws. The mean of many steps is constant up to chance.
    const Pair pair;
    const std::string jitter = R"("jitter": {"kind": "pareto", "scale": "10ms", "shape": 3})";

    const Metrics metrics = pair.run({link(jitter), "stop.iterations=2000"});

    const double least = 3 + 2 * 0.02;  // the least delays of two links in each of two steps
    const double most = 3 + 2 * 2 * (2 * 0.015);  // mean delays of both messages, added up
    CHECK(*metrics.step_time_s > least);
    CHECK(*metrics.step_time_s < most);
}

}  // namespace
}  // namespace paceline::access_test
