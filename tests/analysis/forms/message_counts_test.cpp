#include "analysis/forms/message_counts.hpp"

#include <chrono>
#include <utility>

#include <doctest/doctest.h>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline::message_counts_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

/// Returns the number of messages the network has delivered once everybody has taken part.
template <class Collective>
std::int64_t delivered(int hosts, int members, Collective collective) {
    const Link link{1_Gbps, 10us};
    StarRun run(members, make_star(hosts, link, link));
    run.spawn_all(collective);
    run.simulation.run();
    return static_cast<std::int64_t>(run.network.messages_delivered());
}

TEST_CASE("message counts: an all-reduce delivers as many as its formula says") {
    for (const AllReduce method :
         {AllReduce::ring, AllReduce::recursive_doubling, AllReduce::halving_doubling,
          AllReduce::tree, AllReduce::automatic})
        for (int n = 1; n <= 33; ++n) {
            CAPTURE(static_cast<int>(method));
            CAPTURE(n);
            const auto take_part = [&](Rank self) { return all_reduce(method, self, 9000_B); };
            REQUIRE(delivered(n, n, take_part) == all_reduce_messages(method, n, 9000_B));
        }
}

TEST_CASE("message counts: servers and hierarchies deliver as many as their formulas say") {
    for (int n = 1; n <= 12; ++n)
        for (int q = 1; q <= n; ++q) {
            CAPTURE(n);
            CAPTURE(q);
            AllReducePlan plan = AllReduce::parameter_server;
            plan.servers = q;
            const auto take_part = [&](Rank self) { return all_reduce(plan, self, 9000_B); };
            REQUIRE(delivered(n, n, take_part) == all_reduce_messages(plan, n, 9000_B));
            plan.first_server_node = n;
            REQUIRE(delivered(n + q, n, take_part) == all_reduce_messages(plan, n, 9000_B));
            if (n % q != 0) continue;
            AllReducePlan levels = AllReduce::hierarchical;
            levels.devices = q;
            const auto climb = [&](Rank self) { return all_reduce(levels, self, 9000_B); };
            REQUIRE(delivered(n, n, climb) == all_reduce_messages(levels, n, 9000_B));
        }
}

TEST_CASE("message counts: a ring for each card delivers as many as one ring, c times") {
    const Link link{1_Gbps, 10us};
    for (const AllReduce method : {AllReduce::ring, AllReduce::pipelined_ring})
        for (const int machines : {1, 2, 3})
            for (const int cards : {1, 2, 4}) {
                CAPTURE(machines);
                CAPTURE(cards);
                AllReducePlan plan = method;
                plan.devices = 4;
                plan.cards = cards;
                plan.slices = {500_B, 2};
                const int n = 4 * machines;
                StarRun run(n, make_machines(n, 4, {BusKind::switched, link, cards},
                                             make_star(machines * cards, link, link)));
                run.spawn_all([&](Rank self) { return all_reduce(plan, self, 96'000_B); });
                run.simulation.run();
                const int rings = machines == 1 ? 1 : cards;
                const int slices = method == AllReduce::ring ? 1 : 192 / n / rings;
                REQUIRE(std::cmp_equal(run.network.messages_delivered(),
                                       rings * 2 * n * (n - 1) * slices));
                REQUIRE(all_reduce_messages(plan, n, 96'000_B) == rings * 2 * n * (n - 1) * slices);
            }
}

TEST_CASE("message counts: gathers and sparse sums deliver as many as their formulas say") {
    const UnionWeight weight = [](const Union& merged) { return merged.count * 100_B; };
    for (int n = 1; n <= 33; ++n) {
        CAPTURE(n);
        for (const AllGather how : {AllGather::ring, AllGather::bruck})
            REQUIRE(delivered(n, n, [&](Rank self) { return all_gather(how, self, 900_B); }) ==
                    all_gather_messages(how, n));
        REQUIRE(delivered(n, n, [&](Rank self) { return sparse_all_reduce(self, weight); }) ==
                sparse_all_reduce_messages(n));
    }
}

}  // namespace
}  // namespace paceline::message_counts_test
