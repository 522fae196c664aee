// Training that is dropped half-way. The address sanitizer checks that no frame is leaked and that
// no destroyed wait is ever answered.
#include <cstdint>
#include <memory>
#include <random>

#include <doctest/doctest.h>

#include "sim/engine/simulation.hpp"
#include "tests/algorithms/runtime/sample_algorithms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::algorithms_cancellation_test {
namespace {

using namespace literals;

Job some_job(std::uint64_t random, int nodes) {
    const LayoutPtr layout = small_layout();
    Job job = random % 3 == 0 ? timing_job(layout, 20) : training_job(layout, 20);
    job.timing = make_step_timing(Duration{20'000'000}, *layout, {4, 0, 2, 0}, 3);
    job.mixing = std::make_shared<const Mixing>(random % 2 == 0 ? make_ring_mixing(nodes)
                                                                : make_complete_mixing(nodes));
    return job;
}

struct Case {
    std::mt19937_64 rng;
    int n;
    unsigned kind;
    Time when;
    TrainingRun run;

    explicit Case(std::uint64_t seed)
        : rng(seed),
          n(static_cast<int>(1 + rng() % 7)),
          kind(static_cast<unsigned>(rng() % sample_algorithms)),
          when(Duration{static_cast<std::int64_t>(rng() % 1'000'000'000)}),
          run(n, Link{1_Gbps, Duration{rng() % 2 == 0 ? 0 : 1'000'000}}, some_job(rng(), n)) {
        run.spawn_all([this](Worker& self) { return sample_algorithm(self, kind); });
    }
};

TEST_CASE("training, property: dropped at any time, it leaves only messages in flight") {
    int unfinished = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Case at(seed);
        at.run.simulation.run(at.when);
        unfinished += at.run.processes.finished() ? 0 : 1;

        at.run.processes.drop();
        const RunEnd end = at.run.simulation.run();

        REQUIRE(end == RunEnd::idle);
        REQUIRE(at.run.simulation.waiting().empty());
        REQUIRE(at.run.network.flows_in_flight() == 0);
    }
    CHECK(unfinished > 100);
}

TEST_CASE("training, property: a run can be destroyed at any time") {
    int unfinished = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        Case at(seed);

        at.run.simulation.run(at.when);

        unfinished += at.run.processes.finished() ? 0 : 1;
    }
    CHECK(unfinished > 100);
}

}  // namespace
}  // namespace paceline::algorithms_cancellation_test
