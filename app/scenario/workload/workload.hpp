// What is computed: the gradients of a step and their time, and the size of the model's messages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/cluster_choice.hpp"
#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/devices.hpp"
#include "app/scenario/workload/training.hpp"
#include "models/decoder_sizes.hpp"
#include "models/precision.hpp"
#include "models/recompute.hpp"
#include "models/tensor_times.hpp"

namespace paceline {

/// Forward multiply-accumulates per sample by tensor; shared by the points of a study.
using TensorMacs = std::shared_ptr<const std::vector<double>>;

/// What is known of the devices of a class of nodes, or of the nodes in no class.
struct KindOfDevice {
    std::string name;  // "cluster.classes[0]"
    int workers = 0;
    std::int64_t least_batch = 0;  // samples of a gradient
    std::int64_t most_batch = 0;
    std::optional<std::int64_t> charged_batch{};  // of the most
    const Device* device = nullptr;               // in the table; null: none of it
    std::optional<double> peak_flops{};
    std::optional<Bytes> memory{};
};

struct Workload {
    std::string name;
    LayoutPtr layout;                                   // determines the size of messages
    TensorMacs tensor_macs;                             // by tensor of the layout; all 0: unknown
    std::shared_ptr<const TensorTimes> tensor_times{};  // as measured; null: by tensor_macs
    Duration gradient;                                  // time of one gradient of one worker
    int accumulation = 1;                               // gradients per step
    Duration update{};                                  // time of the optimizer, once per step
    std::optional<std::int64_t> batch;                  // samples per gradient
    std::optional<std::int64_t> stand_in_batch;  // samples that time is charged for, if they differ
    std::optional<std::int64_t> dataset;         // samples per epoch
    TimeOnDevice time_on{};                      // time of a gradient on another device
    Precision precision = Precision::fp32;       // in which a gradient is computed
    std::optional<Recompute> recompute{};   // if given; then `decoder` and a batch are known, too
    std::optional<DecoderSizes> decoder{};  // of a transformer by its sizes
    std::optional<std::int64_t> tokens{};   // of a sample that time is charged for
    const Device* device = nullptr;         // in the table; null: none of it
    std::optional<double> peak_flops{};     // of a device, in `precision`
    std::optional<Bytes> device_memory{};   // that the scenario states
    bool by_speed = false;                  // batches are split by speed
    std::optional<std::int64_t> global_batch{};  // of a step, where the scenario states it
    bool weighs_samples = false;                 // in the mean gradient; else workers
    // These differ from worker to worker only where nodes have classes (class_work.hpp).
    std::vector<std::int64_t> batches{};  // of each worker; empty: `batch`
    std::vector<KindOfDevice> kinds{};    // empty: all devices are alike

    /// Returns the time that a worker computes in one step.
    [[nodiscard]] Duration step() const { return sum(multiple(accumulation, gradient), update); }
    /// Returns the samples per worker and step.
    [[nodiscard]] std::optional<std::int64_t> step_batch() const;
    /// Returns the samples of a gradient that time is charged for.
    [[nodiscard]] std::optional<std::int64_t> charged_batch() const {
        return stand_in_batch ? stand_in_batch : batch;
    }
    /// Returns the memory of a device, if it is known.
    [[nodiscard]] std::optional<Bytes> memory_of_device() const;
    /// Returns the samples of a step of all workers, in units of `batch` for each: their number, if
    /// all have that.
    [[nodiscard]] double batches_of_step(int workers) const;
    /// Returns the samples of a step of all workers; nothing if the batch is not known.
    [[nodiscard]] std::optional<std::int64_t> samples_of_step(int workers) const;
    /// Returns the most samples of a worker's step.
    [[nodiscard]] std::optional<std::int64_t> largest_step_batch() const;
    /// Returns the samples per worker and step that time is charged for.
    [[nodiscard]] std::optional<std::int64_t> charged_step_batch() const;
};

/// The parts of a scenario that a workload depends on.
struct WorkloadSurroundings {
    const ClusterChoice& cluster;
    std::uint64_t seed;
};

// The tables of known keys. A test checks scenario.schema.json against them.
Keys workload_keys();
Keys stand_in_keys();
Keys time_by_batch_keys();

inline constexpr std::int64_t most_trained_batch = 1 << 20;  // of a worker's step

/// A gradient whose time is asked for.
struct GradientAsked {
    std::optional<Place> of_class{};      // that says how long it takes; empty: the workload does
    std::optional<Place> who{};           // asks for another batch than times are stated for
    std::optional<std::int64_t> batch{};  // samples that time is charged for
};

/// Returns how long a gradient takes; valid while the text of the scenario is. Throws ConfigError.
using GradientTime = std::function<Duration(const GradientAsked& asked)>;

struct ReadWorkload {
    std::optional<Training> training;  // what trains, if anything does
    GradientTime time_of;
};

/// Fills in the workload, as all nodes have it that are in no class. Throws ConfigError.
ReadWorkload read_workload(const Place& place, const WorkloadSurroundings& around,
                           Workload& workload);

}  // namespace paceline
