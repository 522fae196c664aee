#include "app/scenario/memory_estimate.hpp"

#include <algorithm>
#include <cstdint>

#include "app/scenario/cluster/cluster_memory.hpp"
#include "app/scenario/pieces.hpp"

namespace paceline {

namespace {

// Memory of messages that are sent at the same time, and of connections that slow start remembers.
Bytes memory_under_way(const Scenario& scenario) {
    constexpr Bytes per_message{1500};  // measured: a flow, two coroutines and their awaiters
    constexpr Bytes per_connection{64};
    constexpr Bytes per_piece{1100};  // measured: its coroutines; DGC's takes twice that
    const std::int64_t workers = scenario.cluster.workers;
    const std::int64_t pieces = most_pieces(scenario.algorithm, *scenario.workload.layout);
    Bytes memory =
        workers * (scenario.algorithm.sends_at_once * per_message + (pieces - 1) * per_piece);
    if (scenario.cluster.tcp && scenario.algorithm.meets_everybody)
        memory += workers * (workers * per_connection);
    return memory;
}

// Memory of a run that trains, as measured: models, momenta, gradients and messages in flight, in
// doubles, for each worker and once for all; batches; and the activations of one panel of samples
// and their gradients, in floats.
Bytes memory_of_values(const Scenario& scenario) {
    constexpr std::int64_t base = 4 << 20;  // samples that are scored
    constexpr double vectors_of_all = 8;
    constexpr double samples_of_a_panel = 32;
    constexpr double copies = 12;  // of what a layer puts out: for the ways back, and of a block
    if (!scenario.training) return {};
    const Training& training = *scenario.training;
    const double vectors =
        vectors_of_all + scenario.cluster.workers * scenario.algorithm.vectors.value_or(0);
    const double inputs = static_cast<double>(training.data.shape.features);
    const double bytes = 8 * vectors * static_cast<double>(training.model.layout->entries()) +
                         4 * copies * samples_of_a_panel * training.model.activations +
                         4 * inputs * static_cast<double>(*scenario.workload.largest_step_batch());
    return Bytes{base + static_cast<std::int64_t>(std::min(bytes, 1e18))};
}

}  // namespace

Bytes estimated_memory(const Scenario& scenario) {
    constexpr Bytes base{16 << 20};
    const ClusterChoice& cluster = scenario.cluster;
    Bytes memory =
        base + memory_of_cluster(cluster) + memory_under_way(scenario) + memory_of_values(scenario);
    for (const Scenario& job : scenario.other_jobs)
        memory += memory_of_workers(job.cluster) + memory_under_way(job);
    return memory;
}

}  // namespace paceline
