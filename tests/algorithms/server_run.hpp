// A training job with a server on a node of its own, on an idle star.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/engine/check.hpp"
#include "tests/algorithms/training_run.hpp"

namespace paceline {

struct ServerRun : TrainingRun {
    /// `work` and `serve` are coroutine functions of (Worker&, Options).
    template <class Options>
    ServerRun(int workers, const Link& link, Job job, Options options,
              Task<> (*work)(Worker&, Options), Task<> (*serve)(Worker&, Options))
        : TrainingRun(workers + 1, link, of(workers, std::move(job))) {
        cluster.serve("server", serve(cluster.server(0), options));
        spawn_all([=](Worker& self) { return work(self, options); });
    }

    ServerRun& to_the_end() {
        PACELINE_CHECK(simulation.run() == RunEnd::idle && processes.finished(),
                       "the run of a test ends");
        return *this;
    }
    /// The server's.
    [[nodiscard]] const Eigen::VectorXd& values() {
        return cluster.worker(0).replicated_model().values();
    }
    /// A host on a slower or faster link, both ways.
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

}  // namespace paceline
