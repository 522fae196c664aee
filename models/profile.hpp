// A published network as the timing model sees it: tensors, multiply-accumulates and measured
// throughputs, each with its source.
//
// The figures are in models/profiles/*.json, which app/scenario/workload/profiles.hpp reads. `macs`
// are forward multiply-accumulates per sample. The backward pass costs about twice as much again
// (measured ratios 1.9 to 2.2: jcjohnson/cnn-benchmarks). A user's file may state instead what
// forward and backward of each layer were measured to take, on one device and with one batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/decoder_sizes.hpp"
#include "models/precision.hpp"
#include "models/recompute.hpp"
#include "models/tensor_times.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// What one gradient was measured to spend on a layer.
struct LayerTimes {
    Duration forward{};
    Duration backward{};
};

struct ProfileLayer {
    std::string name;
    double macs = 0;
    std::vector<Tensor> tensors;
    std::optional<LayerTimes> times{};  // all layers of a profile have them, or none has
    Recompute first_by{};  // the first way that computes it again in backward; none: never
};

struct MeasuredThroughput {
    std::string device;
    std::optional<std::int64_t> batch;
    double samples_per_s = 0;
    std::string source;
    Precision precision = Precision::fp32;
};

struct Profile {
    std::string name;
    std::string title;
    std::string source;
    std::string sample;  // what a sample is: "image", "token"
    std::optional<std::int64_t> dataset_samples;
    std::vector<ProfileLayer> layers;  // in forward order
    std::vector<MeasuredThroughput> throughput;
    std::optional<std::int64_t> batch{};    // with which the times of layers were measured
    std::optional<std::int64_t> tokens{};   // of a sample, if it consists of tokens
    std::optional<DecoderSizes> decoder{};  // that the layers follow from

    /// Returns all tensors in forward order, named "layer.tensor".
    [[nodiscard]] LayoutPtr layout() const;
    [[nodiscard]] double macs() const;
    /// Returns multiply-accumulates by tensor of the layout. Those of a layer count for its first
    /// tensor; those of a layer without tensors count for the layer before it.
    [[nodiscard]] std::vector<double> tensor_macs() const;
    /// Returns the same of what a backward pass computes again.
    [[nodiscard]] std::vector<double> recomputed_tensor_macs(Recompute recompute) const;
    /// Returns the measured times of layers, by tensor in the same way; empty if there are none.
    [[nodiscard]] std::optional<TensorTimes> tensor_times() const;
};

}  // namespace paceline
