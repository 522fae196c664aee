#include "sim/collectives/plans/hierarchical.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/engine/check.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline::hierarchical_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{1_Gbps, 25us};
const Bus bus{BusKind::switched, {100_Gbps, 2us}};

double seconds_of(AllReducePlan plan, int machines, int devices, Bytes size) {
    const int n = machines * devices;
    StarRun run(n, make_machines(n, devices, bus, make_star(machines, wire, wire)));
    run.spawn_all([&](Rank self) { return all_reduce(plan, self, size); });
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return to_seconds(run.last_end());
}

AllReducePlan hierarchical(int devices) {
    AllReducePlan plan = AllReduce::hierarchical;
    plan.devices = devices;
    return plan;
}

TEST_CASE("hierarchical all-reduce: bus, network, bus take the sum of their closed forms") {
    for (const int machines : {1, 2, 3, 4, 7, 8})
        for (const int devices : {1, 2, 4, 8}) {
            CAPTURE(machines);
            CAPTURE(devices);
            const double simulated =
                seconds_of(hierarchical(devices), machines, devices, 1'344'000_B);
            const double inside = 2 * (devices - 1) * (4e-6 + 1'344'000.0 / devices * 8e-11);
            const double between = 2 * (machines - 1) * (54e-6 + 1'344'000.0 / machines * 8e-9);
            REQUIRE(simulated == doctest::Approx(inside + between).epsilon(1e-8).scale(1e-3));
            const Duration closed = hierarchical_all_reduce_time(
                machines, devices, 1'344'000_B, {100_Gbps, 4us}, {1_Gbps, 54us}, devices);
            REQUIRE(to_seconds(closed) ==
                    doctest::Approx(inside + between).epsilon(1e-8).scale(1e-3));
        }
}

TEST_CASE("hierarchical all-reduce: with several cards, fewer rings share each") {
    for (const int machines : {2, 3, 8})
        for (const int devices : {2, 4, 8})
            for (int cards = 1; cards <= devices; cards *= 2) {
                CAPTURE(machines);
                CAPTURE(devices);
                CAPTURE(cards);
                const int n = machines * devices;
                Bus with_cards = bus;
                with_cards.cards = cards;
                StarRun run(n, make_machines(n, devices, with_cards,
                                             make_star(machines * cards, wire, wire)));
                run.spawn_all([&](Rank self) {
                    return all_reduce(hierarchical(devices), self, 1'344'000_B);
                });
                run.simulation.run();
                const double inside = 2 * (devices - 1) * (4e-6 + 1'344'000.0 / devices * 8e-11);
                const double between =
                    2 * (machines - 1) * (54e-6 + 1'344'000.0 / machines / cards * 8e-9);
                REQUIRE(to_seconds(run.last_end()) ==
                        doctest::Approx(inside + between).epsilon(1e-8).scale(1e-3));
            }
}

TEST_CASE("hierarchical all-reduce: on machines of one device it is the ring, to the picosecond") {
    for (int n = 1; n <= 9; ++n)
        CHECK(seconds_of(hierarchical(1), n, 1, 97'001_B) ==
              seconds_of(AllReduce::ring, n, 1, 97'001_B));
}

TEST_CASE("a ring through all devices goes at the pace of its slowest step") {
    for (const int machines : {2, 3, 8})
        for (const int devices : {2, 4, 8}) {
            CAPTURE(machines);
            CAPTURE(devices);
            const int n = machines * devices;
            const double simulated = seconds_of(AllReduce::ring, machines, devices, n * 10'000_B);
            REQUIRE(simulated == doctest::Approx(2 * (n - 1) * (54e-6 + 8e-5)).epsilon(1e-9));
            REQUIRE(simulated ==
                    doctest::Approx(to_seconds(ring_over_machines_time(
                                        n, n * 10'000_B, {100_Gbps, 4us}, {1_Gbps, 54us})))
                        .epsilon(1e-9));
        }
}

TEST_CASE("hierarchical all-reduce: machines that do not divide the members are a mistake") {
    CHECK_THROWS_AS(
        time_on_star(6, wire, [](Rank self) { return hierarchical_all_reduce(self, 1_MB, 4); }),
        LogicError);
}

TEST_CASE("all-reduce by size: whole vectors up to 2048 bytes, halves above") {
    CHECK(plan_for(AllReduce::automatic, 8, 2048_B).plan.method == AllReduce::recursive_doubling);
    CHECK(plan_for(AllReduce::automatic, 8, 2049_B).plan.method == AllReduce::halving_doubling);
    CHECK(plan_for(AllReduce::ring, 8, 1_B).plan.method == AllReduce::ring);
    for (const Bytes size : {2048_B, 2049_B})
        CHECK(seconds_of(AllReduce::automatic, 8, 1, size) ==
              seconds_of(plan_for(AllReduce::automatic, 8, size).plan, 8, 1, size));
}

TEST_CASE("two all-reduces at once on the same links take twice as long, and no formula says so") {
    StarRun run(4, wire);
    run.spawn_all([](Rank self) { return ring_all_reduce(self, 4_MB); }, 1);
    for (int place = 0; place < 4; ++place)
        run.processes.spawn("second", ring_all_reduce(run.rank(place, 2), 4_MB));
    run.simulation.run();

    CHECK(to_seconds(run.last_end()) == doctest::Approx(6 * (50e-6 + 16e-3)).epsilon(1e-9));
}

}  // namespace
}  // namespace paceline::hierarchical_test
