// Where more bandwidth makes no step longer, and where it can
// (docs/models/network.md#more-bandwidth).
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "sim/engine/random.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/fuzz/dice.hpp"
#include "tests/sim/network/transfer_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::more_bandwidth_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

double seconds(const std::string& scenario, const std::string& bandwidth) {
    const TemporaryFolder folder;
    const std::string file = folder.write("scenario.json", scenario);
    const Study study = read_study(file, {"cluster.fabric.link.bandwidth=" + bandwidth});
    return run_point(study.points.front().scenario, nullptr).sim_time_s;
}

const std::vector<std::string> one_at_a_time{
    R"("kind": "dense", "all_reduce": "ring")",
    R"("kind": "dense", "all_reduce": "recursive-doubling")",
    R"("kind": "dense", "all_reduce": "halving-doubling")",
    R"("kind": "dense", "all_reduce": "tree")",
    R"("kind": "collective", "operation": "reduce-scatter")",
    R"("kind": "collective", "operation": "all-gather-ring")",
    R"("kind": "collective", "operation": "all-gather-bruck")",
    R"("kind": "collective", "operation": "all-to-all")",
    R"("kind": "collective", "operation": "broadcast", "method": "binomial")",
    R"("kind": "collective", "operation": "broadcast", "method": "chain")",
    R"("kind": "collective", "operation": "reduce", "method": "binomial")",
    R"("kind": "collective", "operation": "reduce", "method": "chain")",
    R"("kind": "collective", "operation": "reduce", "method": "ring")"};

// A collective on an idle star, over TCP: each message has its links to itself. If nodes differ,
// one way of a cable may be busy while the other is not, so that the two must not share.
std::string random_idle_star(Dice& dice, bool equal) {
    const int nodes = dice.whole(2, 12);
    std::vector<double> speeds;
    for (int node = 0; node < nodes; ++node) speeds.push_back(dice.real(0.5, 2));
    const std::string differ =
        fmt::format(R"("speeds": {{"kind": "list", "values": {}}},)", speeds);
    return fmt::format(
        R"({{"cluster": {{"nodes": {}, {} "transport": {{"kind": "tcp", "first_window": "{}" {}}},
             "fabric": {{"kind": "star", "link": {{"bandwidth": "1Gbps", "latency": "{}"}}}}}},
             "workload": {{"gradient": "{}", "step_time": "1ms"}}, "algorithm": {{{}}},
             "stop": {{"iterations": 4}}}})",
        nodes, equal ? "" : differ, dice.pick(std::vector<std::string>{"0B", "14480B"}),
        equal ? "" : R"(, "duplex_share": 1)",
        dice.pick(std::vector<std::string>{"0s", "50us", "1ms"}),
        dice.pick(std::vector<std::string>{"400B", "10kB", "777776B", "1MB"}),
        dice.pick(one_at_a_time));
}

TEST_CASE("more bandwidth, property: where messages have links to themselves, none ends later") {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        CAPTURE(seed);
        Dice dice(RandomStreams(seed).stream("more bandwidth"));
        const std::string scenario = random_idle_star(dice, seed % 3 == 0);
        CAPTURE(scenario);
        double bandwidth = dice.real(1e8, 2e9);
        double before_ps = 1e300;
        for (int i = 0; i < 6; ++i) {
            const double ps =
                std::round(1e12 * seconds(scenario, fmt::format("{:.0f}bps", bandwidth)));
            CHECK(ps <= before_ps);
            before_ps = ps;
            bandwidth *= dice.pick(std::vector<double>{1.001, 1.01, 1.1, 1.3, 2});
        }
    }
}

// Node 3 brings 4 MB to node 1, which then sends 1 MB to node 2. Node 0 sends 1 MB there from 20 ms
// on.
struct TwoMessages {
    Duration from_0;  // its arrival
    Duration from_1;
};

TwoMessages two_messages(Bandwidth bandwidth) {
    TransferRun run(make_star(4, {bandwidth}, {bandwidth}));
    run.transfer({.name = 'z', .from = 3, .to = 1, .size = 4_MB});
    run.transfer({.name = '1', .from = 1, .to = 2, .size = 1_MB, .at = 4_MB / bandwidth});
    run.transfer({.name = '0', .from = 0, .to = 2, .size = 1_MB, .at = 20ms, .stream = 2});
    run.simulation.run();
    return {run.delivered.at('0'), run.delivered.at('1')};
}

TEST_CASE("more bandwidth: a message that can begin earlier delays the one under way") {
    // Alone, node 0's message takes 1 MB / B. Shared, it ends at 40 ms - 2 MB / B.
    CHECK(to_seconds(two_messages(1200_Mbps).from_0) == Approx(0.02 + 1 / 150.0));
    CHECK(to_seconds(two_messages(1400_Mbps).from_0) == Approx(0.04 - 2 / 175.0));
    CHECK(to_seconds(two_messages(1600_Mbps).from_0) == Approx(0.04 - 2 / 200.0));
    // The last byte arrives earlier all the same.
    CHECK(to_seconds(two_messages(1200_Mbps).from_1) == Approx(5 / 150.0));
    CHECK(to_seconds(two_messages(1600_Mbps).from_1) == Approx(0.03));
}

TEST_CASE(
    "more bandwidth: where messages share a link, one that comes earlier may delay the rest") {
    const std::string star = R"({"cluster": {"nodes": 4,
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}},
            "speeds": {"kind": "list", "values": [2, 0.7, 1, 2]}},
        "workload": {"gradient": "100kB", "step_time": "5ms"},
        "algorithm": {"kind": "dsgd", "mixing": {"kind": "star"}}, "stop": {"iterations": 3}})";

    CHECK(seconds(star, "0.75Gbps") == Approx(0.024647619).epsilon(1e-8));
    CHECK(seconds(star, "1.1Gbps") == Approx(0.024987013).epsilon(1e-8));
    CHECK(seconds(star, "1.4Gbps") == Approx(0.023428571).epsilon(1e-8));
}

TEST_CASE("more bandwidth: slow start of a flow that shares is charged as if it were alone") {
    const auto dumbbell = [](const std::string& first_window) {
        return fmt::format(R"({{"cluster": {{"nodes": 8,
                "fabric": {{"kind": "dumbbell", "link": {{"bandwidth": "1Gbps", "latency": "1ms"}},
                            "bottleneck": {{"bandwidth": "1Gbps", "latency": "1ms"}}}},
                "transport": {{"kind": "tcp", "first_window": "{}"}}}},
            "workload": {{"gradient": "8MB", "step_time": "1ms"}},
            "algorithm": {{"kind": "collective", "operation": "all-to-all"}},
            "stop": {{"iterations": 1}}}})",
                           first_window);
    };

    CHECK(seconds(dumbbell("14480B"), "500Mbps") == Approx(0.329073987).epsilon(1e-8));
    CHECK(seconds(dumbbell("14480B"), "1Gbps") == Approx(0.348262102).epsilon(1e-8));
    CHECK(seconds(dumbbell("0B"), "1Gbps") < seconds(dumbbell("0B"), "500Mbps"));
}

}  // namespace
}  // namespace paceline::more_bandwidth_test
