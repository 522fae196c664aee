// Properties of any algorithm over Worker: values do not change simulated times, and the same job
// runs the same way twice.
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/network/network.hpp"
#include "tests/algorithms/runtime/sample_algorithms.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::modes_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

struct Ended {
    Duration at;
    std::uint64_t events;
    std::vector<std::int64_t> sent;
    std::vector<std::int64_t> received;
    std::vector<Eigen::VectorXd> models;  // own, then the replicated one

    bool operator==(const Ended&) const = default;
};

Job mixed_job(Job job, int nodes) {
    job.mixing = std::make_shared<const Mixing>(make_ring_mixing(nodes));
    job.timing = make_step_timing(50us, *job.start.layout(), {4, 0, 2, 0}, 3);
    return job;
}

Ended state_of(TrainingRun& run) {
    Ended ended{run.elapsed(), run.simulation.events_fired(), {}, {}, {}};
    for (int rank = 0; rank < run.cluster.workers(); ++rank) {
        ended.sent.push_back(run.network.traffic(rank).sent.count);
        ended.received.push_back(run.network.traffic(rank).received.count);
        if (!run.cluster.worker(rank).timing_only()) ended.models.push_back(run.model_of(rank));
    }
    if (!run.cluster.worker(0).timing_only())
        ended.models.push_back(run.cluster.worker(0).replicated_model().values());
    return ended;
}

struct Sample {
    TrainingRun run;

    Sample(int nodes, unsigned kind, Job job) : run(nodes, link, mixed_job(std::move(job), nodes)) {
        run.spawn_all([=](Worker& self) { return sample_algorithm(self, kind); });
    }
    Ended finish() {
        run.simulation.run();
        return state_of(run);
    }
};

TEST_CASE("modes, property: timing-only runs cost the time and traffic of runs with values") {
    for (unsigned kind = 0; kind < sample_algorithms; ++kind)
        for (int n = 1; n <= 9; ++n) {
            CAPTURE(kind);
            CAPTURE(n);

            const Ended timed = Sample(n, kind, timing_job(small_layout(), 5)).finish();
            const Ended trained = Sample(n, kind, training_job(small_layout(), 5)).finish();

            CHECK(timed.at == trained.at);
            CHECK(timed.sent == trained.sent);
            CHECK(timed.received == trained.received);
            CHECK(timed.events == trained.events);
            CHECK(trained.at >= 5 * 50us);
        }
}

TEST_CASE("modes, property: a run that is repeated is the same to the last bit") {
    for (unsigned kind = 0; kind < sample_algorithms; ++kind)
        for (const int n : {1, 3, 8}) {
            CAPTURE(kind);
            CAPTURE(n);

            const Ended first = Sample(n, kind, training_job(small_layout(), 9)).finish();
            const Ended second = Sample(n, kind, training_job(small_layout(), 9)).finish();

            const bool same = first == second;
            CHECK(same);
        }
}

TEST_CASE("modes: two runs that take turns in one process do not affect each other") {
    for (unsigned kind = 0; kind < sample_algorithms; ++kind) {
        CAPTURE(kind);
        Sample one(4, kind, training_job(small_layout(), 9));
        Sample other(4, kind, training_job(small_layout(), 9));

        for (Duration until = 10us; until <= 1ms; until += 10us) {
            one.run.simulation.run(Time{until});
            other.run.simulation.run(Time{until});
        }

        const Ended undisturbed = Sample(4, kind, training_job(small_layout(), 9)).finish();
        const Ended first = one.finish();
        const Ended second = other.finish();
        const bool same = first.models == second.models && first.models == undisturbed.models;
        CHECK(same);
        CHECK(first.sent == undisturbed.sent);
        CHECK(first.events == undisturbed.events);
    }
}

}  // namespace
}  // namespace paceline::modes_test
