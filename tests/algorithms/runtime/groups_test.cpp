#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/runtime/worker.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::groups_test {
namespace {

using namespace std::chrono_literals;

const Link link{Bandwidth{1'000'000'000}, 5us};

Vector constant(const Vector& like, double value) {
    return {like.layout(), Eigen::VectorXd::Constant(like.entries(), value)};
}

// Reduces within its parity, then among all, `rounds` times each.
Task<> reduce_in_two_groups(Worker& self, int rounds, std::vector<double>& seen) {
    std::vector<int> alike;
    for (int rank = self.rank() % 2; rank < self.workers(); rank += 2) alike.push_back(rank);
    const GroupPtr group = self.group(alike);
    for (int round = 0; round < rounds; ++round) {
        const Vector mine = constant(self.model(), self.rank() + 10.0 * round);
        const Vector within = co_await self.all_reduce(mine, AllReduce::ring, group);
        const Vector among = co_await self.all_reduce(mine);
        seen.push_back(within.values()(0));
        seen.push_back(among.values()(0));
    }
}

TEST_CASE("groups: members average among themselves, and rounds are counted per group") {
    TrainingRun run(6, link, training_job(small_layout(), 1));
    std::vector<std::vector<double>> seen(6);
    for (int rank = 0; rank < 6; ++rank)
        run.spawn(rank, reduce_in_two_groups(run.cluster.worker(rank), 2,
                                             seen[static_cast<std::size_t>(rank)]));

    run.simulation.run();

    REQUIRE(run.processes.finished());
    for (const std::size_t rank : {0U, 2U, 4U})
        CHECK(seen[rank] == std::vector<double>{2, 2.5, 12, 12.5});
    for (const std::size_t rank : {1U, 3U, 5U})
        CHECK(seen[rank] == std::vector<double>{3, 2.5, 13, 12.5});
}

Task<> gather_in_halves(Worker& self, Bytes block) {
    const bool low = self.rank() < 4;
    const GroupPtr half =
        self.group(low ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{4, 5, 6, 7});
    co_await self.all_gather(block, AllGather::ring, half);
}

TEST_CASE("groups: two halves of a star work at the same time, each in its closed form") {
    TrainingRun run(8, link, timing_job(small_layout(), 1));
    run.spawn_all([](Worker& self) { return gather_in_halves(self, Bytes{125'000}); });

    run.simulation.run();

    CHECK(run.elapsed() == ring_all_gather_time(4, Bytes{125'000}, idle_star(link)));
}

TEST_CASE("groups: the same ranks in the same order are the same group, with one epoch") {
    TrainingRun run(4, link, timing_job(small_layout(), 1));

    const GroupPtr first = run.cluster.worker(0).group({0, 2});
    const GroupPtr second = run.cluster.worker(2).group({0, 2});
    const GroupPtr turned = run.cluster.worker(2).group({2, 0});

    CHECK(first == second);
    CHECK(first != turned);
    CHECK(first->epoch != turned->epoch);
    CHECK(first->epoch != run.cluster.worker(0).everybody()->epoch);
}

TEST_CASE("groups: the same ranks on another channel are another group") {
    TrainingRun run(4, link, timing_job(small_layout(), 1));
    Worker& one = run.cluster.worker(0);

    CHECK(one.group({0, 1, 2, 3}) == one.everybody());
    CHECK(one.group({0, 1, 2, 3}, 1) != one.everybody());
    CHECK(one.group({0, 2}, 1) == run.cluster.worker(2).group({0, 2}, 1));
    CHECK(one.group({0, 2}, 1) != one.group({0, 2}, 2));
    CHECK(one.group({0, 2}, 1)->epoch != one.group({0, 2})->epoch);
}

// Averages 100 c + rank on channels 0, 1, 2, all at once, beginning them in an order of its own.
Task<> average_on_channels(Worker& self, std::vector<int> order, std::vector<double>& means) {
    std::vector<Pending<Vector>> pending;
    for (const int channel : order) {
        const Vector mine = constant(self.model(), 100.0 * channel + self.rank());
        pending.push_back(self.start(
            self.all_reduce(mine, AllReduce::ring, self.group({0, 1, 2, 3, 4}, channel))));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Vector mean = co_await std::move(pending[i]);
        means[static_cast<std::size_t>(order[i])] = mean.values()(0);
    }
}

TEST_CASE("groups, property: collectives of different channels need not begin in the same order") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        TrainingRun run(5, link, training_job(small_layout(), 1));
        std::vector<std::vector<double>> means(5, std::vector<double>(3));
        for (int rank = 0; rank < 5; ++rank) {
            std::vector<int> order{0, 1, 2};
            std::ranges::shuffle(order, random);
            run.spawn(rank, average_on_channels(run.cluster.worker(rank), order,
                                                means[static_cast<std::size_t>(rank)]));
        }

        run.simulation.run();

        REQUIRE(run.processes.finished());
        for (const std::vector<double>& of_one : means)
            CHECK(of_one == std::vector<double>{2, 102, 202});
    }
}

TEST_CASE("groups: unknown ranks, duplicates and non-members are refused") {
    TrainingRun run(4, link, timing_job(small_layout(), 1));
    Worker& worker = run.cluster.worker(0);
    const GroupPtr others = run.cluster.worker(2).group({2, 3});

    CHECK_THROWS_AS(static_cast<void>(worker.group({1, 2})), LogicError);
    CHECK_THROWS_AS(static_cast<void>(worker.group({0, 1, 1})), LogicError);
    CHECK_THROWS_AS(static_cast<void>(worker.group({0, 4})), LogicError);
    CHECK_THROWS_AS(static_cast<void>(worker.all_gather(Bytes{8}, AllGather::ring, others)),
                    LogicError);
}

}  // namespace
}  // namespace paceline::groups_test
