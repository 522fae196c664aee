// Compares the network with SimGrid 3.32 under CM02: the same messages on the same links are
// delivered at the same times, contention included. tests/simgrid/play.hpp explains where the two
// models differ, and therefore which jobs can be compared.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/all_to_all.hpp"
#include "sim/engine/processes.hpp"
#include "tests/simgrid/play.hpp"
#include "topologies/fabrics/fat_tree.hpp"
#include "topologies/fabrics/leaf_spine.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::against_simgrid_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr double agreement = 1e-4;  // relative

struct Wires {
    std::string name;
    std::function<Fabric(const Link& link, const Link& uplink, std::uint64_t seed)> make;
};

/// The leaf-spine's two spines carry half of what the four hosts of a leaf can send.
const std::vector<Wires>& all_wires() {
    static const std::vector<Wires> wires{
        {"star of 8",
         [](const Link& link, const Link&, std::uint64_t) { return make_star(8, link, link); }},
        {"leaf-spine of 16, oversubscribed twice",
         [](const Link& link, const Link& uplink, std::uint64_t seed) {
             return make_leaf_spine(
                 {.hosts = 16, .hosts_per_leaf = 4, .spines = 2, .link = link, .uplink = uplink},
                 seed);
         }},
        {"fat tree of 16, k = 4",
         [](const Link& link, const Link& uplink, std::uint64_t seed) {
             return make_fat_tree({.hosts = 16, .k = 4, .link = link, .uplink = uplink}, seed);
         }},
    };
    return wires;
}

/// All links have 10 Gbps; only the hosts' cables have latency.
Fabric even(const Wires& wires, Duration latency, std::uint64_t seed) {
    return wires.make({.bandwidth = 10_Gbps, .latency = latency}, {.bandwidth = 10_Gbps}, seed);
}

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : rng_(seed) {}

    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(rng_() % static_cast<std::uint64_t>(n));
    }
    bool one_in(std::int64_t n) { return below(n) == 0; }

  private:
    std::mt19937_64 rng_;
};

/// 60 messages of 1 kB to 2 MB within 2 ms, enough to fill the links; some start together. None is
/// so short that our tick, a picosecond, matters.
Plan random_plan(Fabric fabric, Dice& dice) {
    Plan plan{.fabric = std::move(fabric), .messages = {}};
    for (int i = 0; i < 60; ++i) {
        const auto from = static_cast<int>(dice.below(plan.fabric.hosts));
        const auto hop = static_cast<int>(1 + dice.below(plan.fabric.hosts - 1));
        plan.messages.push_back(
            {.start = dice.one_in(3) ? dice.below(3) * Duration{500us}
                                     : Duration{dice.below(2'000'000'000)},
             .from = from,
             .to = (from + hop) % plan.fabric.hosts,
             .size = {1000 + (dice.one_in(4) ? dice.below(2000) : dice.below(2'000'000))},
             .after = {}});
    }
    return plan;
}

/// Returns the largest difference of delivery times, relative to the time SimGrid's message took.
double apart(const Plan& plan, const std::vector<double>& ours, const std::vector<double>& theirs) {
    double most = 0;
    for (std::size_t i = 0; i < plan.messages.size(); ++i)
        most = std::max(
            most, std::abs(ours[i] - theirs[i]) / (theirs[i] - to_seconds(plan.messages[i].start)));
    return most;
}

double apart(const Plan& plan) {
    return apart(plan, play(plan), play_in_simgrid(plan));
}

/// Returns how much longer the messages take than they would alone, on average.
double stretch(const Plan& plan) {
    const std::vector<double> delivered = play(plan);
    double took = 0;
    double alone = 0;
    for (std::size_t i = 0; i < plan.messages.size(); ++i) {
        Plan one{.fabric = plan.fabric, .messages = {plan.messages[i]}};
        const double start = to_seconds(plan.messages[i].start);
        took += delivered[i] - start;
        alone += play(one).front() - start;
    }
    return took / alone;
}

void hold_random_messages(Duration latency, bool uneven) {
    for (const Wires& wires : all_wires()) {
        double most = 0;
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            CAPTURE(wires.name);
            CAPTURE(seed);
            Dice dice(seed);
            Fabric fabric = even(wires, latency, seed);
            if (uneven)
                for (Link& link : fabric.links)
                    link.bandwidth = Bandwidth{1'000'000'000 + dice.below(20'000'000'000)};
            const Plan plan = random_plan(std::move(fabric), dice);

            const double difference = apart(plan);

            CHECK(difference <= agreement);
            most = std::max(most, difference);
            CHECK(stretch(plan) > 1.5);  // the wires are contended
        }
        MESSAGE(wires.name << ": at most " << most << " apart");
    }
}

TEST_CASE("against SimGrid: random messages, no latency") {
    hold_random_messages(0us, false);
}

TEST_CASE("against SimGrid: random messages, equal latencies") {
    hold_random_messages(25us, false);
}

TEST_CASE("against SimGrid: random messages on links of random bandwidths") {
    hold_random_messages(25us, true);
}

TEST_CASE("against SimGrid: incast, all hosts to one at once") {
    for (const Wires& wires : all_wires()) {
        double most = 0;
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            CAPTURE(wires.name);
            CAPTURE(seed);
            Dice dice(seed);
            Plan plan{.fabric = even(wires, 25us, seed), .messages = {}};
            const auto sink = static_cast<int>(dice.below(plan.fabric.hosts));
            for (int from = 0; from < plan.fabric.hosts; ++from)
                if (from != sink)
                    plan.messages.push_back({.start = {},
                                             .from = from,
                                             .to = sink,
                                             .size = {1'000'000 + dice.below(1'000'000)},
                                             .after = {}});

            const double difference = apart(plan);

            CHECK(difference <= agreement);
            most = std::max(most, difference);
        }
        MESSAGE(wires.name << ": at most " << most << " apart");
    }
}

/// All-to-all in rounds, as messages that wait: a message starts when its sender and its receiver
/// have sent and received those of the previous round. Message (r - 1) n + i is that of host i in
/// round r.
Plan all_to_all_plan(Fabric fabric, Bytes block) {
    Plan plan{.fabric = std::move(fabric), .messages = {}};
    const int n = plan.fabric.hosts;
    const auto message = [n](int round, int from) {
        return static_cast<std::size_t>((round - 1) * n + from % n);
    };
    for (int round = 1; round < n; ++round)
        for (int from = 0; from < n; ++from) {
            const int to = (from + round) % n;
            PlannedMessage next{.start = {}, .from = from, .to = to, .size = block, .after = {}};
            if (round > 1)
                for (const int host : {from, to}) {
                    next.after.push_back(message(round - 1, host));
                    next.after.push_back(message(round - 1, host + n - (round - 1)));
                }
            plan.messages.push_back(next);
        }
    return plan;
}

Task<> member(Rank self, Bytes block, double& end) {
    const NetworkPart network = self.network();
    co_await all_to_all(AllToAll::rounds, self, block);
    end = to_seconds(network.simulation().now().time_since_epoch());
}

TEST_CASE("against SimGrid: all-to-all in rounds, no latency") {
    const Bytes block = 1_MB;
    for (const Wires& wires : all_wires()) {
        double most = 0;
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            CAPTURE(wires.name);
            CAPTURE(seed);
            const Plan plan = all_to_all_plan(even(wires, 0us, seed), block);
            const int n = plan.fabric.hosts;
            std::vector<double> ends(static_cast<std::size_t>(n), -1);
            Simulation simulation;
            Network network(simulation, plan.fabric);
            const GroupPtr group = whole_group(n);
            Processes processes(simulation);
            for (int place = 0; place < n; ++place)
                processes.spawn("member", member(Rank(network, group, place, 1), block,
                                                 ends[static_cast<std::size_t>(place)]));

            simulation.run();

            const std::vector<double> delivered = play_in_simgrid(plan);
            const std::size_t last = delivered.size() - ends.size();  // the last round
            for (std::size_t host = 0; host < ends.size(); ++host) {
                // In round n - 1 host i sends to i - 1 and receives from i + 1.
                const double theirs =
                    std::max(delivered[last + host], delivered[last + (host + 1) % ends.size()]);
                const double difference = std::abs(ends[host] - theirs) / theirs;
                CHECK(difference <= agreement);
                most = std::max(most, difference);
            }
        }
        MESSAGE(wires.name << ": at most " << most << " apart");
    }
}

TEST_CASE("against SimGrid: one link a thousandth slower is noticed") {
    for (const Wires& wires : all_wires()) {
        CAPTURE(wires.name);
        Dice dice(1);
        Plan plan = random_plan(even(wires, 25us, 1), dice);
        const std::vector<double> theirs = play_in_simgrid(plan);
        REQUIRE(apart(plan, play(plan), theirs) <= agreement);
        Route route;
        plan.fabric.find_route(plan.messages[0].from, plan.messages[0].to, route);

        Link& link = plan.fabric.links[route.front()];
        link.bandwidth = 0.999 * link.bandwidth;

        CHECK(apart(plan, play(plan), theirs) > agreement);
    }
}

}  // namespace
}  // namespace paceline::against_simgrid_test
