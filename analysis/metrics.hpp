// What a finished run amounts to: the figures of results.csv.
//
//   speedup      samples per simulated second / those of plain sequential SGD on one such worker
//                (same batch, no network, no compression); with equal batches:
//                workers x a worker's compute time of a step / simulated step time
//   efficiency   speedup / workers
//   exposed      step time less the time the compute device was busy, mean over workers
// Bytes are those that leave or reach a node, mean over nodes. A worker is a device; a node has one
// unless the scenario says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/cluster.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network.hpp"

namespace paceline {

struct Metrics {
    int nodes = 0;
    int devices = 0;
    std::string outcome;          // finished, time-limit, deadlock, out-of-range, spinning, stopped
    std::string outcome_details;  // who waits for what; not a column
    double iterations =
        0;  // gradients computed, mean over workers; a step cut short by a limit counts
    std::optional<double> epochs;
    double sim_time_s = 0;
    std::optional<double>
        step_time_s;  // this and the following are empty where no gradient was computed
    std::optional<double> compute_s;
    std::optional<double> exposed_comm_s;
    std::optional<double> model_step_time_s;
    std::optional<double> bytes_sent_per_node_per_step;
    std::optional<double> bytes_received_per_node_per_step;
    std::optional<double> compression_ratio;
    std::optional<double> samples_per_s;
    std::optional<double> speedup;
    std::optional<double> efficiency;
    std::uint64_t events = 0;  // of the engine; not a column

    [[nodiscard]] bool failed() const { return outcome != "finished" && outcome != "time-limit"; }
};

/// What metrics need beside the run itself.
struct RunFacts {
    Duration worker_step;                 // what a worker computes in one step
    std::optional<std::int64_t> batch;    // samples per worker and step
    std::optional<std::int64_t> dataset;  // samples per epoch
    int nodes = 0;                        // machines; 0: one for each worker
};

Metrics measure(const Simulation& simulation, const Network& network, const Cluster& cluster,
                RunEnd end, bool all_finished, const RunFacts& facts);

}  // namespace paceline
