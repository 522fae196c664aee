// How far the delay of one slow gradient spreads: one gradient of a node takes four times as long,
// and every other node's steps are compared with those of a run without it.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/gossip/ad_psgd.hpp"
#include "algorithms/gossip/swarm_sgd.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::spreading_delay_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

using Algorithm = std::function<Task<>(Worker&)>;
using StepEnds = std::vector<std::vector<Time>>;  // by rank, by steps taken

constexpr int n = 12;
constexpr int steps = 14;
constexpr int slow_node = 5;
constexpr int slow_step = 3;
constexpr Duration extra = 3ms;  // of a gradient of 1 ms that takes 4

StepEnds step_ends(const Algorithm& algorithm, Mixing mixing, bool slow) {
    StepEnds ends(n);
    Simulation* clock = nullptr;
    Job job = timing_job(small_layout(), steps);
    job.mixing = MixingSchedule(std::move(mixing));
    job.after_steps = [&](int rank, std::int64_t) {
        ends[static_cast<std::size_t>(rank)].push_back(clock->now());
    };
    if (slow)
        job.compute_time = [](int rank, std::int64_t k, Time, Duration nominal) {
            return rank == slow_node && k == slow_step ? 4 * nominal : nominal;
        };
    TrainingRun run(n, {1_Gbps, 5us}, std::move(job));
    clock = &run.simulation;
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return ends;
}

// The delay of the end of step k of a node, k = 0, 1, ...
class Delays {
  public:
    Delays(const Algorithm& algorithm, const Mixing& mixing)
        : with_(step_ends(algorithm, mixing, true)),
          without_(step_ends(algorithm, mixing, false)) {}

    [[nodiscard]] Duration of(int rank, int k) const {
        const auto i = static_cast<std::size_t>(rank);
        const auto taken = static_cast<std::size_t>(k) + 1;
        return with_[i][taken] - without_[i][taken];
    }

  private:
    StepEnds with_;
    StepEnds without_;
};

int distance_on_the_ring(int rank) {
    const int d = std::abs(rank - slow_node);
    return std::min(d, n - d);
}

TEST_CASE("delays: in DSGD on a ring a slow gradient spreads one hop per step, undiminished") {
    const Delays delays([](Worker& w) { return dsgd(w); }, make_ring_mixing(n));

    // The exchange of the slow step holds up both neighbors; from then on it is one hop a step.
    for (int rank = 0; rank < n; ++rank)
        for (int k = 0; k < steps; ++k) {
            CAPTURE(rank);
            CAPTURE(k);
            const int reached = slow_step + std::max(distance_on_the_ring(rank) - 1, 0);
            if (k < reached)
                CHECK(delays.of(rank, k) == 0ms);
            else
                CHECK(std::abs(to_seconds(delays.of(rank, k)) - to_seconds(extra)) < 12e-6);
        }
}

TEST_CASE("delays: an all-reduce passes a delay on to all nodes at once") {
    const Delays delays([](Worker& w) { return synchronous_sgd(w, SynchronousSgdOptions{}); },
                        make_ring_mixing(n));

    for (int rank = 0; rank < n; ++rank)
        for (int k = 0; k < steps; ++k) {
            CAPTURE(rank);
            CAPTURE(k);
            const double delay = to_seconds(delays.of(rank, k));
            CHECK(std::abs(delay - (k < slow_step ? 0 : to_seconds(extra))) < 2e-6);
        }
}

TEST_CASE("delays: in AD-PSGD and non-blocking SwarmSGD only the slow node is late") {
    const std::vector<Algorithm> algorithms{
        [](Worker& w) { return ad_psgd(w, {}); },
        [](Worker& w) { return swarm_sgd_non_blocking(w, {.local_steps = 2}); }};
    for (const Algorithm& algorithm : algorithms) {
        const Delays delays(algorithm, make_complete_mixing(n));
        for (int rank = 0; rank < n; ++rank)
            for (int k = 0; k < steps; ++k) {
                CAPTURE(rank);
                CAPTURE(k);
                const bool late = rank == slow_node && k >= slow_step;
                CHECK(delays.of(rank, k) == (late ? extra : 0ms));
            }
    }
}

}  // namespace
}  // namespace paceline::spreading_delay_test
