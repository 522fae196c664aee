#include "sim/collectives/inside_machine.hpp"

#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>

#include <doctest/doctest.h>

#include "sim/collectives/chunks.hpp"
#include "tests/sim/collectives/pairwise_rounds.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline::inside_machine_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{1_Gbps, 25us};
const Link lane{100_Gbps, 2us};
constexpr double per_byte = 8e-11;

// A picosecond per change of a shared rate is lost to rounding.
constexpr double rounding = 1e-8;

template <class Collective>
void run_all(StarRun& run, Collective collective) {
    run.spawn_all(collective);
    run.simulation.run();
    REQUIRE(run.processes.finished());
}

Fabric one_machine(int devices, BusKind kind, Link link = lane) {
    return make_machines(devices, devices, {kind, link}, make_star(1, wire, wire));
}

BlockWeight weight_of(const Blocks& blocks) {
    return [&blocks](int place) { return blocks[static_cast<std::size_t>(place)]; };
}

TEST_CASE("inside a machine: gather and scatter take L + t(the others' blocks), on any bus") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const Blocks blocks = random_blocks(rng, static_cast<int>(1 + rng() % 8));
        const auto g = static_cast<int>(blocks.size());
        const Bytes others = std::accumulate(blocks.begin() + 1, blocks.end(), 0_B);
        for (const BusKind kind : {BusKind::switched, BusKind::bridged}) {
            StarRun gather(g, one_machine(g, kind, {100_Gbps, 0us}));
            run_all(gather, [&](Rank self) { return gather_to_first(self, weight_of(blocks)); });
            StarRun scatter(g, one_machine(g, kind, {100_Gbps, 0us}));
            run_all(scatter,
                    [&](Rank self) { return scatter_from_first(self, weight_of(blocks)); });

            const double form = static_cast<double>(others.count) * per_byte;
            REQUIRE(to_seconds(gather.last_end()) ==
                    doctest::Approx(form).epsilon(rounding).scale(1e-4));
            REQUIRE(to_seconds(scatter.last_end()) ==
                    doctest::Approx(form).epsilon(rounding).scale(1e-4));
        }
    }
}

TEST_CASE("inside a machine: reduce and broadcast take g L + 2 t((g-1)/g S) on a switched bus") {
    for (int g = 1; g <= 8; ++g)
        for (const Bytes per_device : {1_B, 10'000_B, 1_MB}) {
            CAPTURE(g);
            CAPTURE(per_device.count);
            const Bytes size = g * per_device;
            StarRun reduce(g, one_machine(g, BusKind::switched));
            run_all(reduce, [&](Rank self) { return reduce_to_first(self, size); });
            StarRun broadcast(g, one_machine(g, BusKind::switched));
            run_all(broadcast, [&](Rank self) { return broadcast_from_first(self, size); });

            const double moved = (g - 1) * static_cast<double>(per_device.count) * per_byte;
            const double form = g == 1 ? 0 : g * 4e-6 + 2 * moved;
            REQUIRE(to_seconds(reduce.ended[0]) ==
                    doctest::Approx(form).epsilon(rounding).scale(1e-4));
            REQUIRE(to_seconds(reduce.last_end()) ==
                    doctest::Approx(form).epsilon(rounding).scale(1e-4));
            REQUIRE(to_seconds(broadcast.last_end()) ==
                    doctest::Approx(form).epsilon(rounding).scale(1e-4));
        }
}

TEST_CASE("inside a machine: on a bridge all g messages of a step share one lane's bandwidth") {
    for (int g = 2; g <= 8; ++g) {
        CAPTURE(g);
        StarRun run(g, one_machine(g, BusKind::bridged, {100_Gbps, 0us}));
        run_all(run, [&](Rank self) { return reduce_to_first(self, g * 10'000_B); });

        const double steps = (g - 1) * g * 10'000 * per_byte;
        const double chunks = (g - 1) * 10'000 * per_byte;
        REQUIRE(to_seconds(run.last_end()) == doctest::Approx(steps + chunks).epsilon(rounding));
    }
}

TEST_CASE(
    "inside a machine, property: every byte of the others' chunks reaches or leaves the first") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const auto g = static_cast<int>(1 + rng() % 9);
        const Bytes size{static_cast<std::int64_t>(rng() % 100'000)};
        StarRun reduce(g, wire);
        run_all(reduce, [&](Rank self) { return reduce_to_first(self, size); });
        StarRun broadcast(g, wire);
        run_all(broadcast, [&](Rank self) { return broadcast_from_first(self, size); });

        // Ring and gather, or scatter and ring: each moves all chunks but one.
        const Bytes others = chunks(size, g, 1, g - 1);
        const Blocks blocks = random_blocks(rng, g);
        StarRun gather(g, wire);
        run_all(gather, [&](Rank self) { return gather_to_first(self, weight_of(blocks)); });
        StarRun scatter(g, wire);
        run_all(scatter, [&](Rank self) { return scatter_from_first(self, weight_of(blocks)); });
        REQUIRE(gather.network.traffic(0).received ==
                std::accumulate(blocks.begin() + 1, blocks.end(), 0_B));
        REQUIRE(scatter.network.traffic(0).sent == gather.network.traffic(0).received);
        if (g == 1) {
            REQUIRE(reduce.network.messages_delivered() == 0);
            continue;
        }
        REQUIRE(reduce.network.traffic(0).received == others + chunks(size, g, 0, g - 1));
        REQUIRE(broadcast.network.traffic(0).sent ==
                others + chunks(size, g, 0, 1) + chunks(size, g, 2, g - 2));
        REQUIRE(reduce.network.messages_delivered() == g * (g - 1) + g - 1);
        REQUIRE(broadcast.network.messages_delivered() == g * (g - 1) + g - 1);
    }
}

TEST_CASE("inside a machine: the first device has the sum only when the last has given its part") {
    StarRun run(4, one_machine(4, BusKind::switched));
    for (int place = 0; place < 4; ++place)
        run.spawn(place, reduce_to_first(run.rank(place), 1_MB), place == 2 ? 1s : 0s);
    run.simulation.run();
    CHECK(run.ended[0] > 1s);

    StarRun back(4, one_machine(4, BusKind::switched));
    for (int place = 0; place < 4; ++place)
        back.spawn(place, broadcast_from_first(back.rank(place), 1_MB), place == 0 ? 1s : 0s);
    back.simulation.run();
    for (const Duration end : back.ended) CHECK(end > 1s);
}

}  // namespace
}  // namespace paceline::inside_machine_test
