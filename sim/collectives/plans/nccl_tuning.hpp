// NCCL's estimates for one operation of one group, by its table (nccl_table.hpp). nccl.hpp has the
// equation, and what is chosen by it.
//
// Algorithms that sum in switches have heads, devices with a network card of their own, which carry
// an equal shard of the vector each (inside one machine: all devices). The rate of a head is one
// that the library's search tries, the fastest that the wires bear: with h heads,
//
//   NVLS, NVLSTree    inside: (h + 1) rates on a device's lane; between machines: one on a card
//   CollNetDirect     inside: (g + h - 2) / (g - 1) rates on a lane; up to twice that of a card
//
// Rings, trees and CollNetChain have channels that bear one rate on the lane of every device and on
// a card: as many as fit, by the rate by which they have the most together. Inside a machine a
// channel of the chain, and of trees on two machines, has up to twice the rate of its card.
//
// Source: NVIDIA/nccl at 5067397, src/graph/tuning.cc (ncclTopoTuneModel, ncclTopoGetAlgoTime),
// src/graph/search.cc (ncclTopoCompute, ncclTopoSearchTryNvls, ncclTopoSearchTryCollnetDirect,
// ncclTopoDupChannels), src/enqueue.cc (updateCollCostTable).
#pragma once

#include <span>

#include "sim/collectives/plans/nccl.hpp"
#include "sim/collectives/plans/nccl_table.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class NcclTuning {
  public:
    /// `library` must outlive this object.
    NcclTuning(const Nccl& library, Nccl::Operation operation, int ranks);

    [[nodiscard]] bool has(Nccl::Algorithm algorithm, Nccl::Protocol protocol) const;

    /// GB/s, of the bytes that a device passes on.
    [[nodiscard]] double bus_bandwidth(Nccl::Algorithm algorithm, Nccl::Protocol protocol) const;
    /// us, by the library's model.
    [[nodiscard]] double estimate(Nccl::Algorithm algorithm, Nccl::Protocol protocol,
                                  Bytes size) const;

    /// us of a hop, all in all.
    [[nodiscard]] double hop(Nccl::Algorithm algorithm, Nccl::Protocol protocol,
                             bool between) const;
    /// GB/s of a hop.
    [[nodiscard]] double line(bool between) const;
    /// GB/s of its shard that a head passes on, at most.
    [[nodiscard]] double most_of_head(Nccl::Algorithm algorithm) const;
    [[nodiscard]] double most_by_ll() const;
    [[nodiscard]] double efficiency_of_switches() const;

    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] int machines() const { return machines_; }
    [[nodiscard]] int per_machine() const { return ranks_ / machines_; }
    [[nodiscard]] int heads() const;
    /// Of rings and trees.
    [[nodiscard]] int channels() const { return channels_; }
    [[nodiscard]] const Nccl& library() const { return library_; }

  private:
    [[nodiscard]] std::size_t generation() const { return nccl_table::at(library_.generation); }
    [[nodiscard]] std::size_t scale() const;
    [[nodiscard]] nccl_table::Hop inside() const;
    [[nodiscard]] double card() const { return line(true) / library_.cards; }
    [[nodiscard]] int steps() const;
    [[nodiscard]] double hop_latency_of(nccl_table::Hop kind, Nccl::Algorithm algorithm,
                                        Nccl::Protocol protocol) const;
    [[nodiscard]] double latency(Nccl::Algorithm algorithm, Nccl::Protocol protocol) const;
    [[nodiscard]] double latency_over_switches(Nccl::Algorithm algorithm) const;
    [[nodiscard]] bool has_in_switches(Nccl::Algorithm algorithm) const;
    [[nodiscard]] double bandwidth_of_nvls(Nccl::Algorithm algorithm) const;
    [[nodiscard]] double bandwidth_of_direct() const;
    [[nodiscard]] double bandwidth_of_tree(Nccl::Protocol protocol) const;
    [[nodiscard]] double line_over_machines(bool raises_inside) const;
    [[nodiscard]] double searched(double most) const;
    [[nodiscard]] double raised(double rate, double most) const;

    const Nccl& library_;
    Nccl::Operation operation_;
    int ranks_;
    int machines_;
    double ring_line_;
    double tree_line_;
    int channels_;
};

}  // namespace paceline
