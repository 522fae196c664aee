#include "sim/collectives/rank.hpp"

#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/all_reduce.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::rank_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

TEST_CASE("rank: the whole group has every node in its own place") {
    const std::shared_ptr<const Group> group = whole_group(4);

    CHECK(group->members == std::vector<int>{0, 1, 2, 3});
    CHECK(group->epoch == 0);
}

TEST_CASE("rank: a group of some nodes in some order sends between these, and no others") {
    StarRun run(6, {1_Gbps, 25us});
    run.group = std::make_shared<const Group>(Group{.members = {5, 1, 3}, .epoch = 2});

    for (int place = 0; place < 3; ++place)
        run.spawn(place, ring_all_reduce(run.rank(place), 3000_B));
    run.simulation.run();

    CHECK(run.rank(1).place() == 1);
    CHECK(run.rank(1).size() == 3);
    CHECK(run.ended[2] == 4 * (8us + 50us));
    CHECK(run.network.traffic(5).sent == 4000_B);
    CHECK(run.network.traffic(1).sent == 4000_B);
    CHECK(run.network.traffic(3).sent == 4000_B);
    CHECK(run.network.traffic(0).sent == 0_B);
    CHECK(run.network.traffic(2).received == 0_B);
}

TEST_CASE("rank: groups without a common node do not slow one another") {
    StarRun run(8, {1_Gbps, 25us});
    for (const int first : {0, 4}) {
        run.group = std::make_shared<const Group>(
            Group{.members = {first, first + 1, first + 2, first + 3}});
        for (int place = 0; place < 4; ++place)
            run.spawn(first + place, ring_all_reduce(run.rank(place), 4000_B));
    }

    run.simulation.run();

    CHECK(run.ended == std::vector<Duration>(8, 6 * (8us + 50us)));
}

Task<> send_to(Rank self, int to, Bytes size) {
    co_await self.send(to, size);
}

Task<> receive_from(Rank self, int from) {
    co_await self.receive(from);
}

TEST_CASE("rank: a message of one stream does not answer a receive on another") {
    StarRun run(2, {1_Gbps, 25us});
    run.spawn(0, send_to(run.rank(0, 1), 1, 1000_B));
    run.spawn(1, receive_from(run.rank(1, 2), 0));

    const RunEnd end = run.simulation.run();

    CHECK(end == RunEnd::idle);
    CHECK(run.simulation.waiting().size() == 2);
    CHECK(run.network.traffic(0).sent == 0_B);  // by rendezvous: it never set out
}

TEST_CASE("rank: a member that does not come leaves the others waiting, by name") {
    StarRun run(4, {1_Gbps, 25us});
    for (const int place : {0, 1, 3}) run.spawn(place, ring_all_reduce(run.rank(place), 4000_B));

    run.simulation.run();
    CHECK(run.network.settle());
    const RunEnd end = run.simulation.run();

    const std::vector<Waiting> waiting = run.simulation.waiting();
    CHECK(end == RunEnd::idle);
    REQUIRE(waiting.size() == 3);
    CHECK(waiting[2].process == "place 3");
    CHECK(waiting[2].what == "an exchange with node 2");
}

}  // namespace
}  // namespace paceline::rank_test
