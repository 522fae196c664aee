// Training jobs with a server on its own node, on an idle star.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <utility>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline {

inline const Link server_link{Bandwidth{1'000'000'000}, std::chrono::microseconds(5)};

/// A learning rate that differs from step to step.
inline double server_rate(std::int64_t k) {
    return 0.3 / static_cast<double>(k + 3);
}
inline Job server_job(std::int64_t steps) {
    Job job = training_job(small_layout(), steps);
    job.learning_rate = server_rate;
    return job;
}

struct ServerRun : TrainingRun {
    /// `work` and `serve` are coroutine functions of (Worker&, Options).
    template <class Options>
    ServerRun(int workers, const Link& link, Job job, Options options,
              Task<> (*work)(Worker&, Options), Task<> (*serve)(Worker&, Options))
        : TrainingRun(workers + 1, link, of(workers, std::move(job))) {
        cluster.serve(cluster.workers(), "server", serve(cluster.server(0), options));
        spawn_all([=](Worker& self) { return work(self, options); });
    }

    ServerRun& to_the_end() {
        PACELINE_CHECK(simulation.run() == RunEnd::idle && processes.finished(),
                       "the run of a test ends");
        return *this;
    }
    /// Returns the server's model.
    [[nodiscard]] const Eigen::VectorXd& values() {
        return cluster.worker(0).replicated_model().values();
    }
    /// Puts a host on a slower or faster link, in both directions.
    void set_link(int host, Bandwidth bandwidth) {
        network.set_bandwidth(star_up(host), bandwidth);
        network.set_bandwidth(star_down(host, network.hosts()), bandwidth);
    }

    static Job of(int workers, Job job) {
        job.workers = workers;
        job.servers = 1;
        return job;
    }
};

/// Checks that a run of `entries` numbers and six steps takes what `model(k, in)` gives for its
/// steps k.
template <class RunOf, class StepTime>
void check_step_model(int n, std::int64_t entries, const RunOf& run_of, const StepTime& model) {
    using namespace std::chrono_literals;
    const LayoutPtr layout = make_layout({{"all", {entries, 1}}});
    Job job = timing_job(layout, 6);
    job.update = 70us;
    StepModelInput in = on_star(n, idle_star(server_link), step_of_tests, layout);
    in.update = 70us;
    auto run = run_of(n, std::move(job));

    double sum = 0;
    for (std::int64_t k = 0; k < 6; ++k) sum += to_seconds(model(k, in));
    CHECK(to_seconds(run.to_the_end().elapsed()) == doctest::Approx(sum).epsilon(1e-9));
}

/// Stops runs of 20 steps, made by `run_of(rng)`, within `longest`. Every other run is dropped and
/// must leave nothing behind; the others are destroyed without being dropped. `prepare(run, rng)`
/// changes a run before it begins.
template <class RunOf, class Prepare>
void check_drops(Duration longest, const RunOf& run_of, const Prepare& prepare) {
    int unfinished = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        auto run = run_of(rng);
        prepare(run, rng);
        const auto most = static_cast<std::uint64_t>(longest.count());
        run.simulation.run(Time{Duration{static_cast<std::int64_t>(rng() % most)}});
        unfinished += run.processes.finished() ? 0 : 1;
        if (seed % 2 == 0) continue;

        run.processes.drop();

        REQUIRE(run.simulation.run() == RunEnd::idle);
        REQUIRE(run.network.flows_in_flight() == 0);
    }
    CHECK(unfinished > 20);
}
template <class RunOf>
void check_drops(Duration longest, const RunOf& run_of) {
    check_drops(longest, run_of, [](ServerRun& /*run*/, std::mt19937_64& /*rng*/) {});
}

}  // namespace paceline
