// Collectives that an algorithm defines itself, and sums over neighbors.
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::combine_test {
namespace {

CollectiveOfOwn gathering(Bytes block, AllGather how) {
    return [=](const Rank& rank) { return all_gather(how, rank, block); };
}

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

// The entrywise maximum of all contributions, which is neither a mean nor linear.
Vector largest(const Round<Vector>& round) {
    Eigen::VectorXd most = round.of(0).values();
    for (std::size_t i = 1; i < round.members(); ++i) most = most.cwiseMax(round.of(i).values());
    return {round.of(0).layout(), most};
}

struct Combined {
    std::vector<Vector> results;
    int formed = 0;
};

Task<> combine_once(Worker& self, Vector mine, Bytes block, Combined& combined) {
    const Form form = [&combined](const Round<Vector>& round) {
        ++combined.formed;
        return largest(round);
    };
    combined.results.push_back(
        co_await self.combine(mine, gathering(block, AllGather::ring), form));
}

Eigen::VectorXd of_rank(int rank) {
    return own_target(rank, 26);
}

TEST_CASE(
    "combine: the result is formed once and is equal on all workers, for any number of them") {
    for (const int n : {1, 2, 3, 5, 8}) {
        CAPTURE(n);
        const LayoutPtr layout = small_layout();
        TrainingRun run(n, link, training_job(layout, 1));
        Combined combined;
        Eigen::VectorXd expected = of_rank(0);
        for (int rank = 0; rank < n; ++rank) {
            expected = expected.cwiseMax(of_rank(rank));
            run.spawn(rank, combine_once(run.cluster.worker(rank), Vector(layout, of_rank(rank)),
                                         1'000_B, combined));
        }

        run.simulation.run();

        REQUIRE(run.processes.finished());
        CHECK(combined.formed == 1);
        for (const Vector& result : combined.results) {
            CHECK(result.values() == expected);
            CHECK(result.shares_values_with(combined.results.front()));
        }
        CHECK(run.elapsed() == ring_all_gather_time(n, 1'000_B, idle_star(link)));
    }
}

TEST_CASE("combine: without values it returns what was entered, in the same time") {
    for (const int n : {1, 4, 7}) {
        CAPTURE(n);
        const LayoutPtr layout = small_layout();
        const LayoutPtr other = make_layout({{"other", {3}}});
        TrainingRun run(n, link, timing_job(layout, 1));
        Combined combined;
        for (int rank = 0; rank < n; ++rank)
            run.spawn(rank,
                      combine_once(run.cluster.worker(rank), Vector(other), 1'000_B, combined));

        run.simulation.run();

        REQUIRE(run.processes.finished());
        CHECK(combined.formed == 0);
        for (const Vector& result : combined.results) CHECK(result.layout() == other);
        CHECK(run.elapsed() == ring_all_gather_time(n, 1'000_B, idle_star(link)));
    }
}

Task<> combine_late(Worker& self, Vector mine, Combined& combined) {
    co_await self.compute((1 + self.rank()) * 1ms);
    for (int k = 0; k < 3; ++k) {
        const Vector sum = co_await self.combine(
            (k + 1.0) * mine, gathering(8_B, AllGather::bruck), [](const Round<Vector>& round) {
                Vector total = round.of(0);
                for (std::size_t i = 1; i < round.members(); ++i) total += round.of(i);
                return total;
            });
        combined.results.push_back(sum);
    }
}

TEST_CASE("combine: the k-th call answers the k-th of the others, however late they come") {
    const LayoutPtr layout = small_layout();
    TrainingRun run(5, link, training_job(layout, 1));
    Combined combined;
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(26);
    for (int rank = 0; rank < 5; ++rank) {
        sum += of_rank(rank);
        run.spawn(rank,
                  combine_late(run.cluster.worker(rank), Vector(layout, of_rank(rank)), combined));
    }

    run.simulation.run();

    REQUIRE(run.processes.finished());
    REQUIRE(combined.results.size() == 15);
    std::vector<int> found(3);
    for (const Vector& result : combined.results)
        for (std::size_t k = 0; k < 3; ++k)
            if ((result.values() - (static_cast<double>(k) + 1) * sum).norm() < 1e-12) ++found[k];
    CHECK(found == std::vector<int>{5, 5, 5});
}

// The first member receives a block from each other, in order.
Task<> hand_in(Rank rank, Bytes block) {
    if (rank.place() > 0) co_await rank.send(0, block);
    for (int from = 1; rank.place() == 0 && from < rank.size(); ++from) co_await rank.receive(from);
}

struct Reduced {
    Vector result;
    Duration left;
};

Task<> reduce_late(Worker& self, std::vector<int> members, Duration late, Vector mine,
                   Reduced& reduced) {
    co_await self.compute(late);
    const GroupPtr group = self.group(std::move(members), 1);
    reduced.result = co_await self.reduce_to_first(
        std::move(mine), [](const Rank& rank) { return hand_in(rank, 125'000_B); }, largest, group);
    reduced.left = self.simulation().now().time_since_epoch();
}

TEST_CASE("reduce to first: the first member gets the value; others keep theirs and go on") {
    const LayoutPtr layout = small_layout();
    TrainingRun run(6, link, training_job(layout, 1));
    const std::vector<int> members{4, 1, 5, 2};
    const std::vector<Duration> late{0ms, 0ms, 9ms, 0ms, 0ms, 3ms};
    std::vector<Reduced> reduced(6, {Vector(layout), {}});
    for (const int rank : members)
        run.spawn(
            rank,
            reduce_late(run.cluster.worker(rank), members, late[static_cast<std::size_t>(rank)],
                        Vector(layout, of_rank(rank)), reduced[static_cast<std::size_t>(rank)]));

    run.simulation.run();

    REQUIRE(run.processes.finished());
    CHECK(reduced[4].result.values() ==
          of_rank(4).cwiseMax(of_rank(1)).cwiseMax(of_rank(5)).cwiseMax(of_rank(2)));
    for (const std::size_t rank : {1U, 2U, 5U})
        CHECK(reduced[rank].result.values() == of_rank(static_cast<int>(rank)));
    // A block takes 1 ms. Member 1 is gone before 5 and 2 have entered, and 5 before 2.
    CHECK(reduced[1].left < 2ms);
    CHECK(reduced[5].left >= 4ms);
    CHECK(reduced[5].left < 5ms);
    CHECK(reduced[2].left >= 10ms);
    CHECK(reduced[4].left > 10ms);
    CHECK(run.cluster.held().rounds == 0);
}

TEST_CASE("reduce to first: without values everybody keeps what was entered, in the same time") {
    const LayoutPtr layout = small_layout();
    const std::vector<int> members{0, 1, 2};
    Duration elapsed[2];
    for (const bool trains : {false, true}) {
        TrainingRun run(3, link, trains ? training_job(layout, 1) : timing_job(layout, 1));
        std::vector<Reduced> reduced(3, {Vector(layout), {}});
        for (const int rank : members)
            run.spawn(rank, reduce_late(run.cluster.worker(rank), members, 0ms,
                                        trains ? Vector(layout, of_rank(rank)) : Vector(layout),
                                        reduced[static_cast<std::size_t>(rank)]));
        run.simulation.run();
        REQUIRE(run.processes.finished());
        CHECK(reduced[0].result.has_values() == trains);
        elapsed[trains ? 1 : 0] = run.elapsed();
    }
    CHECK(elapsed[0] > 2ms);
    CHECK(elapsed[0] == elapsed[1]);
}

Task<> add_neighbors(Worker& self, Vector mine, Bytes size, std::vector<Vector>& sums) {
    sums[static_cast<std::size_t>(self.rank())] = co_await self.neighbor_sum(mine, size);
}

TEST_CASE("neighbor sum: it adds a worker and those it listens to, all with weight 1") {
    for (const int n : {1, 2, 5, 8}) {
        CAPTURE(n);
        const LayoutPtr layout = small_layout();
        Job job = training_job(layout, 1);
        const Mixing mixing = make_exponential_mixing(n);
        job.mixing = std::make_shared<const Mixing>(mixing);
        TrainingRun run(n, link, std::move(job));
        std::vector<Vector> sums(static_cast<std::size_t>(n), Vector(layout));
        for (int rank = 0; rank < n; ++rank)
            run.spawn(rank, add_neighbors(run.cluster.worker(rank), Vector(layout, of_rank(rank)),
                                          5'000_B, sums));

        run.simulation.run();

        REQUIRE(run.processes.finished());
        const auto degree = static_cast<std::int64_t>(mixing.listeners(0).size());
        for (int i = 0; i < n; ++i) {
            Eigen::VectorXd expected = Eigen::VectorXd::Zero(26);
            for (const MixingWeight& w : mixing.row(i)) expected += of_rank(w.node);
            CHECK((sums[static_cast<std::size_t>(i)].values() - expected).norm() < 1e-12);
            CHECK(run.network.traffic(i).sent == degree * 5'000_B);
        }
        const Duration exchange = degree == 0 ? 0us : 10us + degree * 40us;
        CHECK(to_seconds(run.elapsed()) == doctest::Approx(to_seconds(exchange)).epsilon(1e-9));
    }
}

}  // namespace
}  // namespace paceline::combine_test
