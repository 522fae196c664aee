// Runs methods that keep one model on all workers, on the quadratics of training_run.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <doctest/doctest.h>

#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline {

inline const Link replicated_link{Bandwidth{1'000'000'000}, std::chrono::microseconds(5)};

inline double rate_of_schedule(std::int64_t k) {
    return 0.3 / static_cast<double>(k + 3);
}
inline Job job_with_schedule(const LayoutPtr& layout, std::int64_t steps) {
    Job job = training_job(layout, steps);
    job.learning_rate = rate_of_schedule;
    return job;
}

/// Returns the model after all steps of n workers.
template <class Options>
Eigen::VectorXd trained(int n, Task<> (*algorithm)(Worker&, Options), const Options& options,
                        Job job) {
    TrainingRun run(n, replicated_link, std::move(job));
    run.spawn_all([=](Worker& self) { return algorithm(self, options); });
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return run.cluster.worker(0).replicated_model().values();
}

}  // namespace paceline
