// Collectives that are dropped half-way. The address sanitizer checks that no frame is leaked and
// that no destroyed wait is ever answered.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/inside_machine.hpp"
#include "sim/collectives/servers.hpp"
#include "sim/collectives/sparse_all_reduce.hpp"
#include "sim/collectives/two_phase.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::sim_cancellation_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const UnionWeight growing = [](const Union& merged) { return merged.count * 1000_B; };

Bytes some_weight(int of) {
    return (of + 1) * 3001_B;
}

Task<> nothing() {
    co_return;
}

Task<> some_collective(Rank self, std::uint64_t kind) {
    switch (kind % 10) {
        case 0:
            return ring_all_reduce(std::move(self), 64'001_B);
        case 1:
            return recursive_doubling_all_reduce(std::move(self), 64'001_B);
        case 2:
            return halving_doubling_all_reduce(std::move(self), 64'001_B);
        case 3:
            return ring_all_gather(std::move(self), 8000_B);
        case 4:
            return bruck_all_gather(std::move(self), 8000_B);
        case 5:
            return two_phase(AllToAll::grouped, std::move(self), some_weight, nothing);
        case 6:
            return server_exchange(std::move(self), {3, {}}, some_weight, some_weight,
                                   [](int) { return nothing(); });
        case 7:
            return reduce_to_first(std::move(self), 64'001_B);
        case 8:
            return broadcast_from_first(std::move(self), 64'001_B);
        default:
            return sparse_all_reduce(std::move(self), growing);
    }
}

struct Case {
    std::mt19937_64 rng;
    int n;
    std::uint64_t kind;
    Time when;
    StarRun run;

    explicit Case(std::uint64_t seed)
        : rng(seed),
          n(static_cast<int>(2 + rng() % 9)),
          kind(rng()),
          when(Duration{static_cast<std::int64_t>(rng() % 2'000'000'000)}),
          run(n, Link{1_Gbps, rng() % 2 == 0 ? Duration{} : Duration{20us}}) {
        for (const Stream stream : {Stream{1}, Stream{2}})
            run.spawn_all(
                [&](Rank self) { return some_collective(std::move(self), kind + stream); }, stream);
    }
};

TEST_CASE("collectives, property: dropped at any time, they leave only messages in flight") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        Case at(seed);
        at.run.simulation.run(at.when);

        at.run.processes.drop();
        const RunEnd end = at.run.simulation.run();

        REQUIRE(end == RunEnd::idle);
        REQUIRE(at.run.simulation.waiting().empty());
        REQUIRE(at.run.network.flows_in_flight() == 0);
    }
}

TEST_CASE("collectives, property: a run can be destroyed at any time") {
    int unfinished = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        Case at(seed);

        at.run.simulation.run(at.when);

        unfinished += at.run.processes.finished() ? 0 : 1;
    }
    CHECK(unfinished > 300);
}

TEST_CASE(
    "collectives, property: one member dropped at any time leaves the others waiting or done") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        Case at(seed);
        const auto deserter = static_cast<int>(at.rng() % static_cast<unsigned>(at.n));
        std::vector<std::optional<Pending<>>> members;
        for (int place = 0; place < at.n; ++place)
            members.emplace_back(at.run.simulation.start(
                make_process("test"), some_collective(at.run.rank(place, 3), at.kind)));
        at.run.simulation.run(at.when);

        members[static_cast<std::size_t>(deserter)].reset();
        const RunEnd end = at.run.simulation.run();

        REQUIRE(end == RunEnd::idle);
        REQUIRE(at.run.processes.finished());  // the others' collectives, on streams of their own
        REQUIRE(at.run.network.flows_in_flight() == 0);
    }
}

}  // namespace
}  // namespace paceline::sim_cancellation_test
