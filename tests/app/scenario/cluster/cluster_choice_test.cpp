// Machines with several devices, and TCP, from the scenario to the figures.
#include "app/scenario/cluster/cluster_choice.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/scenario/memory_estimate.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::cluster_choice_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

// Machines on 10 Gbps and 20 us per link, devices on lanes of 100 Gbps and 1 us. 9.6 MB can be
// divided evenly among 2, 3, .., 6, 8, 10, 12, 15, 16, 20, 24 and 32 workers.
struct Machines {
    TemporaryFolder folder;
    std::string file = folder.write("machines.json", R"({
        "cluster": {"nodes": 2, "devices_per_node": 4,
            "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps", "latency": "1us"}},
            "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "20us"}}},
        "workload": {"gradient": "9600000B", "gradient_time": "5ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 3}})");

    [[nodiscard]] Scenario read(const std::vector<std::string>& settings = {}) const {
        return read_study(file, settings).points.front().scenario;
    }
    [[nodiscard]] ClusterChoice cluster(const std::vector<std::string>& settings = {}) const {
        return read(settings).cluster;
    }
    [[nodiscard]] Metrics run(const std::vector<std::string>& settings = {}) const {
        return run_point(read(settings), nullptr);
    }
};

// One device per machine on a star of 1 Gbps and 25 us per link.
struct Plain {
    TemporaryFolder folder;
    std::string file = folder.write("plain.json", R"({
        "cluster": {"nodes": 4,
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}}},
        "workload": {"gradient": "4800000B", "step_time": "5ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 3}})");

    [[nodiscard]] Scenario read(const std::vector<std::string>& settings = {}) const {
        return read_study(file, settings).points.front().scenario;
    }
    [[nodiscard]] Metrics run(const std::vector<std::string>& settings = {}) const {
        return run_point(read(settings), nullptr);
    }
};

const std::string ring = R"(algorithm={"kind": "dense", "all_reduce": "ring"})";
const std::string hierarchical = R"(algorithm={"kind": "dense", "all_reduce": "hierarchical"})";
const std::string warm_tcp = R"(cluster.transport={"kind": "tcp", "first_window": "0B"})";

std::string nodes(int count) {
    return fmt::format("cluster.nodes={}", count);
}
std::string devices_per_node(int count) {
    return fmt::format("cluster.devices_per_node={}", count);
}

TEST_CASE("cluster: nodes are full machines, devices fill one machine after the other") {
    const Machines machines;
    const std::string by_devices = R"(cluster={"devices": 9, "devices_per_node": 4,
        "bus": {"kind": "bridged", "link": {"bandwidth": "1Gbps"}},
        "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}})";

    const ClusterChoice full = machines.cluster();
    const ClusterChoice part = machines.cluster({by_devices});

    CHECK(full.nodes == 2);
    CHECK(full.workers == 8);
    CHECK(full.bus->kind == BusKind::switched);
    CHECK(full.bus->lane.latency == 1us);
    CHECK(part.nodes == 3);
    CHECK(part.workers == 9);
    CHECK(part.bus->kind == BusKind::bridged);
    CHECK(part.make_fabric(0, 1).hosts == 9);
    CHECK(part.make_fabric(0, 1).machines.first_of(1) == 4);
}

TEST_CASE("cluster: a node is one device unless it is said otherwise") {
    const ClusterChoice cluster = Plain().read().cluster;

    CHECK(cluster.workers == 4);
    CHECK(cluster.devices_per_node == 1);
    CHECK(!cluster.bus);
    CHECK(!cluster.tcp);
    CHECK(cluster.transport().first_window == 0_B);
    CHECK(cluster.make_fabric(0, 1).hosts == 4);
    CHECK(cluster.make_fabric(2, 1).hosts == 6);
}

TEST_CASE("cluster: lanes of a direct bus take memory for every pair") {
    const Machines machines;

    const Bytes switched = estimated_memory(machines.read({nodes(10), devices_per_node(100)}));
    const Bytes direct = estimated_memory(
        machines.read({nodes(10), devices_per_node(100), "cluster.bus.kind=direct"}));

    CHECK(direct > switched);
    CHECK(direct >= 10 * 100 * 100 * Bytes{sizeof(Link)});
}

TEST_CASE("machines: ring and hierarchy take their closed forms, whatever the shape") {
    const Machines machines;
    const double size = 9.6e6;
    const double lane_s = 8 * size / 100e9;  // the whole vector over a lane
    const double wire_s = 8 * size / 10e9;
    for (const int p : {1, 2, 3, 4})
        for (const int g : {2, 4, 5, 8}) {
            CAPTURE(p);
            CAPTURE(g);
            const int n = p * g;
            const double across = 42e-6 + wire_s / n;
            const double ring_s = 5e-3 + 2 * (n - 1) * (p == 1 ? 2e-6 + lane_s / n : across);
            const double hierarchy_s =
                5e-3 + 2 * (g - 1) * (2e-6 + lane_s / g) + 2 * (p - 1) * (42e-6 + wire_s / p);

            const Metrics by_ring = machines.run({ring, nodes(p), devices_per_node(g)});
            const Metrics by_hierarchy =
                machines.run({hierarchical, nodes(p), devices_per_node(g)});

            CHECK(by_ring.step_time_s.value() == Approx(ring_s).epsilon(1e-9));
            CHECK(by_ring.model_step_time_s.value() == Approx(ring_s).epsilon(1e-9));
            CHECK(by_hierarchy.step_time_s.value() == Approx(hierarchy_s).epsilon(1e-9));
            CHECK(by_hierarchy.model_step_time_s.value() == Approx(hierarchy_s).epsilon(1e-9));
        }
}

TEST_CASE("machines: if the bus is the bottleneck, simulation and closed form agree") {
    const Machines machines;
    for (const char* lane : {"1Gbps", "2500Mbps", "4Gbps", "10Gbps", "12Gbps"})
        for (const std::string& algorithm : {ring, hierarchical}) {
            CAPTURE(lane);
            CAPTURE(algorithm);
            const Metrics m =
                machines.run({algorithm, fmt::format("cluster.bus.link.bandwidth={}", lane)});

            CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
        }
}

TEST_CASE("machines: four rings on a lane of a tenth of the wire have the lane's pace") {
    // 2 machines of 4: on the wire 2 (L + S/8 / 1 Gbps), since no ring can use its share of 2.5
    // Gbps.
    const double expected = 5e-3 + 2 * 3 * (2e-6 + 8 * 2.4e6 / 1e9) + 2 * (42e-6 + 8 * 1.2e6 / 1e9);

    const Metrics m = Machines().run({hierarchical, "cluster.bus.link.bandwidth=1Gbps"});

    CHECK(m.step_time_s.value() == Approx(expected).epsilon(1e-9));
    CHECK(m.model_step_time_s.value() == Approx(expected).epsilon(1e-9));
}

TEST_CASE("machines: buckets and accumulation go over the hierarchy as over any all-reduce") {
    const Machines machines;
    for (const char* method : {"ring", "hierarchical"}) {
        CAPTURE(method);
        const std::string algorithm = fmt::format(
            R"(algorithm={{"kind": "dense-overlapped", "all_reduce": "{}", "bucket": "1MB"}})",
            method);
        const Metrics m =
            machines.run({algorithm, "workload.accumulation=3", "workload.update_time=1ms"});

        CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
        CHECK(m.compute_s.value() == Approx(16e-3).epsilon(1e-12));
    }
}

TEST_CASE("machines: closed forms are claimed for a switched bus on a star, and for no other") {
    const Machines machines;

    CHECK(machines.cluster().as_idle_network().has_value());
    CHECK(!machines.cluster({"cluster.bus.kind=bridged"}).as_idle_network().has_value());
    CHECK(!machines.cluster({"cluster.bus.kind=direct"}).as_idle_network().has_value());
    CHECK(!machines.cluster({"cluster.fabric.kind=ring"}).as_idle_network().has_value());
    CHECK(!machines.cluster({"cluster.fabric.overhead=1us"}).as_idle_network().has_value());
    CHECK(!machines.run({R"(algorithm={"kind": "dense", "all_reduce": "tree"})"})
               .model_step_time_s.has_value());
}

TEST_CASE("machines: a bridge is one lane for all of a machine, lanes of pairs are one for each") {
    // A ring within one machine: each step sends one message per device.
    const Machines machines;
    const std::vector<std::string> one{ring, nodes(1)};
    const auto step = [&](const char* kind) {
        std::vector<std::string> settings = one;
        settings.push_back(fmt::format("cluster.bus.kind={}", kind));
        return machines.run(settings).step_time_s.value();
    };
    const double message_s = 8 * 2.4e6 / 100e9;

    CHECK(step("switched") == Approx(5e-3 + 6 * (2e-6 + message_s)).epsilon(1e-9));
    CHECK(step("direct") == Approx(5e-3 + 6 * (1e-6 + message_s)).epsilon(1e-9));
    CHECK(step("bridged") == Approx(5e-3 + 6 * (3e-6 + 4 * message_s)).epsilon(1e-9));
}

TEST_CASE("machines: only what leaves a machine is counted, 2 (p-1)/p S whatever the devices") {
    const Machines machines;
    for (const int p : {1, 2, 3, 4})
        for (const int g : {2, 4, 8}) {
            CAPTURE(p);
            CAPTURE(g);
            const Metrics m = machines.run({hierarchical, nodes(p), devices_per_node(g)});
            const double expected = 2.0 * (p - 1) / p * 9.6e6;

            CHECK(m.nodes == p);
            CHECK(m.devices == p * g);
            CHECK(m.bytes_sent_per_node_per_step.value() == Approx(expected).epsilon(1e-12));
            CHECK(m.bytes_received_per_node_per_step.value() == Approx(expected).epsilon(1e-12));
        }
}

TEST_CASE("machines: of a ring through all devices a machine sends one device's share") {
    const Metrics m = Machines().run({ring});

    CHECK(m.bytes_sent_per_node_per_step.value() == Approx(2.0 * 7 / 8 * 9.6e6).epsilon(1e-12));
}

TEST_CASE("machines: speedup is over one device, and all of them at once are its limit") {
    const Metrics m = Machines().run({hierarchical, "workload.batch=32"});

    CHECK(m.speedup.value() == Approx(8 * 5e-3 / m.step_time_s.value()).epsilon(1e-12));
    CHECK(m.efficiency.value() == Approx(m.speedup.value() / 8).epsilon(1e-12));
    CHECK(m.samples_per_s.value() == Approx(8 * 32 / m.step_time_s.value()).epsilon(1e-12));
}

TEST_CASE("machines: one machine of one device is a node on the star") {
    const Plain plain;
    const Machines machines;
    const std::string star =
        R"(cluster.fabric={"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}})";
    const std::string without_bus = R"(cluster={"nodes": 4, "devices_per_node": 1,
        "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}}})";

    CHECK(plain.run({without_bus, hierarchical}).sim_time_s == plain.run().sim_time_s);
    CHECK(plain.run({without_bus, hierarchical}).model_step_time_s ==
          plain.run().model_step_time_s);
}

TEST_CASE(
    "transport: TCP leaves 1448 of 1538 bytes, and less 84 for every two when both ways talk") {
    const ClusterChoice cluster = Plain().read({R"(cluster.transport={"kind": "tcp"})"}).cluster;
    const Fabric fabric = cluster.make_fabric(0, 1);

    CHECK(cluster.transport().first_window == 14'480_B);
    CHECK(cluster.transport().overhead == 0s);
    for (const Link& link : fabric.links) {
        CHECK(link.efficiency == Approx(1448.0 / 1538).epsilon(1e-15));
        CHECK(link.duplex_share == Approx(1 - 84.0 / 3076).epsilon(1e-15));
    }
}

TEST_CASE("transport: its options are what they say, and the cost is of every message") {
    const ClusterChoice cluster =
        Plain()
            .read({R"(cluster.transport={"kind": "tcp", "goodput": 0.5, "duplex_share": 0.9,
                      "message_cost": "7us", "first_window": "3kB"})"})
            .cluster;

    CHECK(cluster.transport().overhead == 7us);
    CHECK(cluster.transport().first_window == 3000_B);
    CHECK(cluster.make_fabric(0, 1).links.front().efficiency == 0.5);
    CHECK(cluster.make_fabric(0, 1).links.back().duplex_share == 0.9);
    CHECK(!cluster.as_idle_network().has_value());
}

TEST_CASE("transport: a link that states its efficiency keeps it") {
    const Plain plain;
    const std::string stated = "cluster.fabric.link.efficiency=0.8";

    const Metrics m = plain.run({stated, warm_tcp});

    const double rate = 0.8e9 / 8 * (1 - 84.0 / 3076);
    CHECK(m.step_time_s.value() == Approx(5e-3 + 6 * (50e-6 + 1.2e6 / rate)).epsilon(1e-8));
    CHECK(m.model_step_time_s.value() == Approx(m.step_time_s.value()).epsilon(1e-9));
}

TEST_CASE(
    "transport: over warm TCP a ring goes at goodput and duplex share, on a star of any size") {
    const Plain plain;
    const double rate = 1e9 / 8 * 1448 / 1538 * (1 - 84.0 / 3076);
    for (const int n : {2, 3, 4, 8, 16}) {
        CAPTURE(n);
        const double expected = 5e-3 + 2 * (n - 1) * (50e-6 + 4.8e6 / n / rate);

        const Metrics m = plain.run({warm_tcp, nodes(n)});

        CHECK(m.step_time_s.value() == Approx(expected).epsilon(1e-8));  // rates are whole bit/s
        CHECK(m.model_step_time_s.value() == Approx(m.step_time_s.value()).epsilon(1e-9));
    }
}

TEST_CASE("transport: warm TCP and machines, simulation and closed form are one") {
    const Machines machines;
    for (const std::string& algorithm : {ring, hierarchical}) {
        const Metrics m = machines.run({algorithm, warm_tcp});

        CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
    }
}

TEST_CASE("transport: slow start is paid once, however many steps follow") {
    const Plain plain;
    const std::string cold = R"(cluster.transport={"kind": "tcp"})";
    const auto lost = [&](int steps) {
        const std::string stop = fmt::format("stop.iterations={}", steps);
        return plain.run({cold, stop}).sim_time_s - plain.run({warm_tcp, stop}).sim_time_s;
    };

    // The first messages of the four connections of the ring start together. The RTT is 100 us; a
    // window of 14,480 bytes drains in 14,480 x 8 / 941.5 Mbps = 123 us, so it fills the path at
    // once.
    CHECK(lost(1) == 0);
    const std::string far = "cluster.fabric.link.latency=1ms";
    const auto lost_far = [&](int steps) {
        const std::string stop = fmt::format("stop.iterations={}", steps);
        return plain.run({cold, stop, far}).sim_time_s -
               plain.run({warm_tcp, stop, far}).sim_time_s;
    };
    // RTT 4 ms: windows of 1, 2, .., 32 times 123.04 us each wait for acknowledgements (32 take
    // 3.94 ms).
    const double window = 14'480 * 8 / (1e9 * 1448 / 1538);
    CHECK(lost_far(1) == Approx(6 * 4e-3 - 63 * window).epsilon(1e-6));
    CHECK(lost_far(40) == Approx(lost_far(1)).epsilon(1e-9));
}

TEST_CASE("transport: acknowledgements take their share on other fabrics than the star, too") {
    const Plain plain;
    const std::string leaf =
        R"(cluster.fabric={"kind": "leaf-spine", "hosts_per_leaf": 4, "spines": 1,
           "link": {"bandwidth": "1Gbps", "latency": "25us"}})";
    const std::string ring_of_nodes =
        R"(cluster.fabric={"kind": "ring", "link": {"bandwidth": "1Gbps", "latency": "50us"}})";

    const double on_a_star = plain.run({warm_tcp}).sim_time_s;

    // Two hops, as on a star.
    CHECK(plain.run({warm_tcp, leaf}).sim_time_s == Approx(on_a_star).epsilon(1e-12));
    // Nobody sends against the ring's direction, so there are no acknowledgement frames to compete
    // with.
    const double rate = 1e9 / 8 * 1448 / 1538;
    CHECK(plain.run({warm_tcp, ring_of_nodes}).step_time_s.value() ==
          Approx(5e-3 + 6 * (50e-6 + 1.2e6 / rate)).epsilon(1e-8));
}

TEST_CASE("transport: on one machine TCP changes nothing, as buses do not speak it") {
    const Machines machines;
    for (const char* kind : {"switched", "bridged", "direct"}) {
        CAPTURE(kind);
        const std::string bus = fmt::format("cluster.bus.kind={}", kind);
        const std::string slow_bus = "cluster.bus.link.latency=1ms";
        const std::string tcp = R"(cluster.transport={"kind": "tcp", "message_cost": "1ms"})";

        CHECK(machines.run({nodes(1), bus, slow_bus, tcp}).sim_time_s ==
              machines.run({nodes(1), bus, slow_bus}).sim_time_s);
    }
}

TEST_CASE("transport: between machines every message has its cost, inside none") {
    // Two machines of two: 2 steps inside and 2 between machines, each of which starts one message
    // per device.
    const Machines machines;
    const std::vector<std::string> two{hierarchical, devices_per_node(2), "stop.iterations=1"};
    std::vector<std::string> costly = two;
    costly.emplace_back("cluster.fabric.overhead=1ms");

    const double more = machines.run(costly).sim_time_s - machines.run(two).sim_time_s;

    CHECK(more == Approx(2e-3).epsilon(1e-9));
}

TEST_CASE("transport: shares that leave less than a bit leave one") {
    const Plain plain;
    for (const char* shares : {R"("goodput": 1e-11)", R"("duplex_share": 1e-12)",
                               R"("goodput": 1e-5, "duplex_share": 1e-10)"}) {
        CAPTURE(shares);
        const std::string tcp = fmt::format(R"(cluster.transport={{"kind": "tcp", {}}})", shares);
        const std::string tiny = R"(workload={"gradient": "4B", "step_time": "5ms"})";
        CHECK(model_step_time(plain.read({tcp, tiny}), 1).has_value());
        CHECK(plain.run({tcp, tiny}).outcome == "finished");
    }
}

TEST_CASE("memory: messages that set out at once count, and connections that are remembered") {
    const Plain plain;
    const auto more = [&](const std::vector<std::string>& settings) {
        std::vector<std::string> large = settings;
        large.emplace_back("cluster.nodes=1000");
        return (estimated_memory(plain.read(large)) -
                estimated_memory(plain.read({"cluster.nodes=1000"})))
            .count;
    };
    const std::string on_workers =
        R"(algorithm={"kind": "dense", "all_reduce":
           {"kind": "parameter-server", "placement": "workers"}})";
    const std::string tcp = R"(cluster.transport={"kind": "tcp"})";

    CHECK(more({on_workers}) >= 1'000'000'000);  // a million messages of more than a kilobyte
    CHECK(more({tcp}) == 0);                     // a ring has a thousand connections
    CHECK(more({tcp, R"(algorithm={"kind": "collective", "operation": "all-to-all"})"}) >=
          30'000'000);
}

TEST_CASE("transport: \"ideal\" is the default") {
    const Plain plain;

    CHECK(plain.run({R"(cluster.transport={"kind": "ideal"})"}).sim_time_s ==
          plain.run().sim_time_s);
}

}  // namespace
}  // namespace paceline::cluster_choice_test
