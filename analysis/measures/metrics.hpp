// The metrics of a finished run: the columns of results.csv.
//
//   speedup      samples per simulated second / those of plain sequential SGD on one such worker
//                (same batch, no network, no compression); with equal batches:
//                workers x a worker's compute time of a step / simulated step time
//   efficiency   speedup / workers
//   exposed      step time minus the time the compute device was busy, mean over workers
//   (these three from sums of whole picoseconds: nothing is exposed below 0, nothing that only
//   computes has an efficiency other than 1)
//   waiting      shares of the simulated time, mean over workers: for stragglers (workers that had
//                not arrived), for dead nodes (while a worker was away), for the network (the rest
//                of the time without computing); algorithms/runtime/time_use.hpp defines which is
//                which. Together with the share of computing they sum to 1.
//   staleness    mean age of what is used in training, for methods that have it. Parameter servers:
//                pushes of others that were applied to the model between the time it was read and
//                the time the gradient is applied. Gossip concurrent with computing (AD-PSGD,
//                SwarmSGD): averagings of a worker's model between the two. Delayed averages
//                (Overlap-Local-SGD, CoCoD-SGD): steps since the average was begun.
//   participation  mean share of the workers whose models are in a round, for methods that draw
//                  them
//   per client and round   bytes of all workers until the end of the last round / clients that were
//                  asked, summed over the rounds. A round that did not end counts in neither
// Rates (step time, computing, exposed, bytes per step, samples per second, speedup, efficiency)
// are those of whole periods of the algorithm. A run that ends by its own number of steps, and at
// the end of a period, is rated up to its end. Every other run (its steps are no multiple of the
// period, or a limit or a target cut it) is rated up to the last whole period of each worker, as
// step_marks.hpp tallies it. On request the first steps of each worker are left out. Exceptions,
// which are rated as a whole: runs in which some worker has not taken one whole period, and runs
// whose nodes fail, because the time lost belongs to them. Of the former, those that were cut count
// whole steps alone. A run in which no step was whole has no rates.
//
// Bytes are those that leave or reach a node, mean over nodes. A worker is a device; a node has one
// unless the scenario says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/measures/training_log.hpp"
#include "analysis/measures/worker_spread.hpp"
#include "analysis/trust/time_interval.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class Cluster;
class WorkerProcesses;

struct Metrics {
    int nodes = 0;
    int devices = 0;
    std::string outcome;          // finished, target, time-limit, diverged, deadlock, out-of-range,
                                  // no-progress, spinning, stopped; of another job: finished,
                                  // main-ended
    std::string outcome_details;  // who waits for what; not a column
    double iterations =
        0;  // gradients computed, mean over workers; a step cut short by a limit counts
    double rated_iterations = 0;  // of them, those that the rates are about; not a column
    std::optional<double> epochs;
    double sim_time_s = 0;
    std::optional<double> step_time_s;  // this and the following are empty if no step was whole
    std::optional<double> compute_s;
    std::optional<double> exposed_comm_s;
    std::optional<double> model_step_time_s;
    std::optional<double> bytes_sent_per_node_per_step;
    std::optional<double> bytes_received_per_node_per_step;
    std::optional<double> compression_ratio;
    std::optional<double> samples_per_s;
    std::optional<double> epoch_time_s;  // of all workers together
    std::optional<double> speedup;
    std::optional<double> efficiency;
    std::optional<double> train_loss;  // this and the following only of runs that train
    std::optional<double> test_loss;
    std::optional<double> test_accuracy;
    std::optional<double> test_accuracy_local_mean;
    std::optional<double> test_accuracy_local_min;
    std::optional<double> consensus_distance;
    std::optional<double> relative_error;
    std::optional<double> density;        // of one worker's sparse contribution, as measured
    std::optional<double> union_density;  // of all of them together
    std::optional<double> time_to_target_s;
    std::optional<double> speedup_to_target;
    std::optional<double> decode_failures;  // coordinates decoded wrongly, in the whole run
    std::optional<double> waiting_stragglers_share;
    std::optional<double> waiting_network_share;
    std::optional<double> waiting_dead_share;
    std::optional<double> staleness;
    std::optional<double> participation;
    std::optional<double> rounds;  // this and the following of methods that draw clients
    std::optional<double> bytes_sent_per_client_per_round;
    std::optional<double> bytes_received_per_client_per_round;
    std::optional<double> deaths;            // this and the following if nodes fail
    std::optional<double> away_share;        // share of the nodes' time that they were away
    std::optional<double> checkpoint_share;  // share of the nodes' time spent writing checkpoints
    std::optional<double> undone_share;      // share of the computed gradients undone by a restart
    std::optional<double> goodput;           // samples that count / samples computed
    std::optional<double> total_sent_gb;     // by all workers, in the whole run; 1e9 bytes
    std::optional<double> total_received_gb;
    std::optional<double> cost;               // of these bytes, if a price is known
    std::optional<double> sent_gb_to_target;  // by all workers, when the target was reached
    std::optional<double> memory_gb;          // of a device, where the algorithm says so; 1e9 bytes
    std::optional<double> algbw_gb_per_s;     // of a collective alone: 1e9 bytes of it per second,
    std::optional<double> busbw_gb_per_s;     // and its bus bandwidth as nccl-tests define it
    std::optional<double> slowdown;           // step time / that of the job alone on the network
    std::optional<WorkerSpread> spread;       // over the workers, on request
    std::optional<double> activations_gb;     // of memory_gb, if the scenario says which are kept
    std::optional<double> memory_share;       // memory_gb / the memory of a device
    std::optional<double> tokens_per_s;       // this and the following where they are asked for
    std::optional<double> mfu;                // operations of the net per second / the peak
    std::optional<double> parameters;
    std::optional<double> flops_per_sample;  // of training, without recomputation
    std::optional<double> device_hours;
    std::optional<double> energy_kwh;  // if the power of a device is known
    std::optional<double> cost_to_target;
    std::optional<double> energy_to_target_kwh;
    std::optional<TimeInterval> interval;  // of real times, on request
    std::vector<Evaluation> timeline;
    std::string job;                  // the job's name if there are several
    std::vector<Metrics> other_jobs;  // other jobs on the same network
    std::uint64_t events = 0;         // of the engine; not a column

    /// Returns whether the run was cut before a step was whole. It has no rates, and no column of
    /// it means for a step.
    [[nodiscard]] bool ended_before_a_step() const {
        return !step_time_s && iterations <= 1 && outcome != "finished" && outcome != "target";
    }
    /// Returns whether the run failed. A run that diverged has an outcome and has not failed.
    [[nodiscard]] bool failed() const {
        return outcome != "finished" && outcome != "target" && outcome != "time-limit" &&
               outcome != "diverged" && outcome != "main-ended";
    }
};

/// Returns the bytes in units of 1e9 bytes.
[[nodiscard]] constexpr double gigabytes(Bytes bytes) {
    return static_cast<double>(bytes.count) * 1e-9;
}

/// What metrics need in addition to the run itself.
struct RunFacts {
    Duration worker_step;                         // what a worker computes in one step
    std::optional<std::int64_t> batch;            // samples per worker and step
    std::optional<std::int64_t> dataset;          // samples per epoch
    int nodes = 0;                                // machines; 0: one per worker
    std::optional<std::int64_t> charged_batch{};  // samples of `batch` charged to the clock
    // The batch of each worker, in units of `batch`; empty: they are alike.
    std::vector<double> batches{};

    [[nodiscard]] double batch_of(int rank) const {
        return batches.empty() ? 1 : batches[static_cast<std::size_t>(rank)];
    }
    /// Returns the batches of a step of all workers, in units of `batch`.
    [[nodiscard]] double batches_of_step(int workers) const;
};

/// A sum of picoseconds. 64 bits hold 106 days, which many workers together exceed.
__extension__ using WideDuration = __int128;

/// What the workers of a job have done by a time: what rates are computed from.
struct Tally {
    double time_s = 0;     // mean over workers
    double gradients = 0;  // this and the following: sums over workers
    double batches = 0;    // the samples of these gradients, in units of the batch (RunFacts)
    double compute_s = 0;
    double sent = 0;  // bytes
    double received = 0;
    // Whole picoseconds: differences and ratios of rounded seconds would be below 0 and above 1.
    WideDuration time = 0;
    WideDuration idle = 0;  // of it, without computing

    /// Adds the time of a worker.
    void add_time(Duration of_worker, Duration computing);
};

/// Adds the rates. Requires gradients.
void add_rates(Metrics& metrics, const Tally& tally, const RunFacts& facts);

/// Returns what the workers have done in the whole run.
Tally tally_of_run(const Simulation& simulation, NetworkPart network, const Cluster& cluster,
                   const RunFacts& facts = {});

/// Measures a run. Rates are those of `rated`; if it is empty, there are none.
Metrics measure(const Simulation& simulation, NetworkPart network, const Cluster& cluster,
                RunEnd end, bool all_finished, const RunFacts& facts,
                const std::optional<Tally>& rated);

/// Adds the cost of failures. If failures ended the run, names the missing nodes.
void add_failures(Metrics& metrics, const Cluster& cluster, const WorkerProcesses& processes,
                  const RunFacts& facts = {});

/// Adds what a training run has learned. Requires that the log is finished.
void add_learning(Metrics& metrics, TrainingLog& log);

}  // namespace paceline
