// The options of Deep Gradient Compression (dgc.hpp has the rule and what each one means), and the
// density that they put in force at a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/compression/sparse/selection.hpp"
#include "algorithms/compression/sparse/sparse.hpp"

namespace paceline {

/// Whether a sparse message holds the uncompressed tensors, or they travel apart, as a sum.
enum class Uncompressed : std::uint8_t { in_messages, apart };

/// Densities of the stages before the final one. Stages last a number of steps, or of epochs.
struct WarmUp {
    std::vector<double> densities;
    std::int64_t steps_each = 0;  // used if > 0, else epochs_each
    double epochs_each = 1;
};

/// Where weight decay is added.
enum class DecayPlace : std::uint8_t {
    compressed,  // to the worker's gradient, before accumulation
    outside,     // to the update, with a momentum of its own
};

struct DgcOptions {
    double density = 0.001;
    DensityLaw law = DensityLaw::independent;
    SparseFormat format{};
    Uncompressed uncompressed = Uncompressed::apart;
    SelectionCost selection{};
    WarmUp warm_up{};       // empty: none
    double momentum = 0.9;  // beta, in [0, 1)
    bool nesterov = false;
    double clip = 0;          // c, for the norm of the global gradient; 0: no clipping
    double weight_decay = 0;  // lambda, on all tensors
    DecayPlace decay = DecayPlace::compressed;
    bool momentum_correction = true;
    bool masking = true;
    bool accumulation = true;
};

/// Returns the number of the stage that a step belongs to: 0, 1, ... in the warm-up, and then the
/// number of its stages.
std::size_t stage_at(const DgcOptions& options, std::int64_t step, double epoch);

/// Returns the density in force at a step.
double density_at(const DgcOptions& options, std::int64_t step, double epoch);

}  // namespace paceline
