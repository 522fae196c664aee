#include "analysis/forms/message_counts.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "tests/sim/collectives/star_run.hpp"

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
