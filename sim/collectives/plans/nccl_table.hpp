// The table from which NCCL estimates times: us and GB/s, as in the source.
//
// Source: NVIDIA/nccl at 5067397, src/graph/tuning.cc (ncclTunerConstantsDefaults, nvlsEfficiency,
// treeCorrectionFactor), src/graph/search.cc (the rates that its search tries).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "sim/collectives/plans/nccl.hpp"

namespace paceline::nccl_table {

template <class Choice>
constexpr std::size_t at(Choice choice) {
    return static_cast<std::size_t>(choice);
}

enum class Hop : std::uint8_t { nvlink, pcie, network };

using OfProtocols = std::array<double, 3>;        // LL, LL128, Simple
using OfAlgorithms = std::array<OfProtocols, 6>;  // ring, tree, CollNet: direct, chain; NVLS: one
                                                  // machine, tree
using OfMachines = std::array<double, 3>;         // on one machine, two, more
using OfGenerations = std::array<OfMachines, 4>;  // Volta, Ampere, Hopper, Blackwell

constexpr OfAlgorithms base_latency{{{6.6, 14.0, 8.4}, {6.8, 14.0, 8.4}, {}, {}, {}, {}}};
// [nvlink, pcie, network]
constexpr std::array<OfAlgorithms, 3> hop_latency{{
    {{{0.6, 1.9, 3.4}, {0.6, 1.25, 4.0}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 25}, {0, 0, 25}}},
    {{{1.0, 2.5, 5.7}, {1.0, 1.9, 4.0}, {0, 0, 3.7}, {0, 0, 2.8}, {}, {}}},
    {{{2.7, 4.0, 14.0}, {5.0, 8.5, 14.0}, {0, 0, 31}, {0, 0, 30}, {0, 0, 18}, {0, 0, 20.9}}},
}};
constexpr double each_of_direct = 0.4;    // of CollNetDirect, per other device, one after another
constexpr double network_overhead = 1.0;  // of a host with Intel's processors

constexpr OfGenerations most_rate_of_ll{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
constexpr OfGenerations most_per_channel_of_tree{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr OfGenerations most_per_channel_of_tree_by_ll128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr OfGenerations most_per_channel_of_nvls_tree{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};
constexpr std::array<double, 4> most_per_channel_of_ring_by_ll128{20.0, 20.0, 36.7, 40.0};
constexpr std::array<double, 4> efficiency_of_switch_sums{0, 0, 0.85, 0.74};
constexpr double efficiency_of_direct = 0.85;  // from Hopper on

// By size, 64 bytes to 512 MB in powers of two.
constexpr std::array<std::array<double, 24>, 3> tree_correction{{
    {1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5,
     .4,  .4,  .5,  .6,  .7, .8, .9, 1., 1., 1., 1., 1.},
    {1.0, 1.0, 1.0, 1.0, 1., .9, .8, .8, .8, .7, .6, .6,
     .6,  .6,  .6,  .6,  .8, .9, .9, .9, .9, 1., 1., 1.},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

// Rates of a channel that the search tries, fastest first: inside one machine, and over several.
inline constexpr std::array inside_volta{40., 30., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3.};
inline constexpr std::array inside_hopper{60., 50., 40., 30., 24., 20., 15., 12., 11., 6., 3.};
inline constexpr std::array inside_blackwell{90., 80., 70., 60., 50., 45.,
                                             40., 30., 24., 20., 19., 18.};
inline constexpr std::array between_volta{48., 30., 28., 24., 20., 18., 15., 12.,  10., 9.,
                                          7.,  6.,  5.,  4.,  3.,  2.4, 1.2, 0.24, 0.12};
inline constexpr std::array between_hopper{48., 45., 42., 40., 30., 24., 22.,  20., 17.5,
                                           15., 12., 6.,  3.,  2.4, 1.2, 0.24, 0.12};
inline constexpr std::array between_blackwell{96., 86.,  80., 48., 45.1, 42., 40., 30., 24.,  22.,
                                              20., 17.5, 15., 12., 6.,   3.,  2.4, 1.2, 0.24, 0.12};

constexpr std::span<const double> searched(GpuGeneration generation, bool one_machine) {
    if (generation >= GpuGeneration::blackwell)
        return one_machine ? std::span<const double>(inside_blackwell) : between_blackwell;
    if (generation >= GpuGeneration::hopper)
        return one_machine ? std::span<const double>(inside_hopper) : between_hopper;
    return one_machine ? std::span<const double>(inside_volta) : between_volta;
}

// --- what was measured ---

constexpr double step_of_simple = 11;  // us; NVIDIA/nccl issue 2409: 10 to 12

}  // namespace paceline::nccl_table
