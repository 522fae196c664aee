// What NCCL takes for a collective of one size: algorithm, protocol, channels, and what its
// messages then cost. No messages are here; nccl_collectives.hpp sends them.
//
// The choice is the library's own: for each algorithm and protocol it estimates
//
//   T  =  base + steps * hop + S / (bus bandwidth * n / steps)
//
// from a table, and takes the least. n ranks; a ring has 2(n-1) steps for an all-reduce, n-1 for an
// all-gather or a reduce-scatter; a tree has 2 (g-1 + floor(log2 p)) with g ranks on each of p
// machines. The bus bandwidth is that of a device inside one machine, and otherwise the lesser of
// it and a machine's cards together.
//
//   protocol    bytes on the wire    most of a line for payload         slice of a channel
//   LL          2 S                  half, and a bound by generation    32 KiB
//   LL128       16/15 S              0.92                               576 KiB; trees less
//   Simple      S                    all                                1 MiB; trees 512 KiB
//
// Of c channels, a vector uses so many that each of their 512 threads (LL128: 640) has 64 bytes
// (LL128, LL over a tree: 8; LL over a ring: 8 n); the others' share of the line is idle.
//
// The times of the estimate serve the choice alone: measured hops are longer. What a hop costs here
// is the table's, times the factor by which the table is too short for the protocol Simple: one
// step takes 11 us inside NCCL's data path, whatever the size and the fabric (NVIDIA/nccl issue
// 2409: 13.1 GB/s at slices of 128 KiB and 87.6 GB/s at 1 MiB are 10 to 12 us each), where the
// table says 3.4 us over NVLink, 5.7 us over PCIe and 14 us between machines. So hops over NVLink
// cost 3.24 times, over PCIe 1.93 times, and between machines what the table says. That LL and
// LL128 scale as Simple does is an assumption, kept because measured rings of 8 bytes agree with it
// (docs/validation.md). Simple's cost occupies a connection before each slice. LL and LL128 send a
// flag with every 8 or 128 bytes, so theirs delays the delivery, while the next slice flows. A hop
// inside a machine includes the latency of the bus; between machines the link's comes on top, as
// NCCL adds what the network's driver states.
//
// In-switch reduction (NVLS, all-reduce inside one machine): each device sends and receives
// S (n+1)/n at 0.85 of its line, behind 25 us. For all-gathers and reduce-scatters it gains
// nothing. NVLSTree, CollNet and PAT are not modeled.
//
// Units: GB/s and us in the table, as in the source. Source: NVIDIA/nccl at 5067397,
// src/graph/tuning.cc (ncclTunerConstantsDefaults, ncclTopoTuneModel, treeCorrectionFactor,
// ncclTopoGetAlgoTime), src/enqueue.cc (channels: topoGetAlgoInfo; slices: calcCollChunking),
// src/include/comm.h (thresholds), src/graph/connect.cc (ncclTopoPostset doubles the channels).
// In-switch reduction at 0.85 of 370 GB/s is what issue 1455 measured on 4 to 8 H100.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/collectives/pipelined.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

enum class GpuGeneration : std::uint8_t { volta, ampere, hopper, blackwell };

struct Nccl {
    enum class Algorithm : std::uint8_t { ring, tree, nvls };
    enum class Protocol : std::uint8_t { ll, ll128, simple };
    enum class Operation : std::uint8_t {
        all_reduce,
        all_gather,
        reduce_scatter,
        broadcast,
        reduce
    };

    Bandwidth inside{};         // of a device to the others of its machine
    Bandwidth between{};        // of a machine to the others, over all its cards
    Duration inside_latency{};  // from device to device
    int devices = 1;            // per machine
    int cards = 1;              // per machine
    GpuGeneration generation = GpuGeneration::ampere;
    bool over_nvlink = true;  // inside a machine; else over PCIe
    bool has_switch_sums = false;
    std::optional<Algorithm> algorithm{};  // forced, where the operation has it
    std::optional<Protocol> protocol{};    // forced, where the algorithm has it
};

struct NcclChoice {
    Nccl::Algorithm algorithm = Nccl::Algorithm::ring;
    Nccl::Protocol protocol = Nccl::Protocol::simple;
    int channels = 1;     // that the vector uses
    Duration estimate{};  // by the library's own model
    Duration start_up{};  // behind the least of all start-ups, which is that of LL on a ring
    Bytes on_wire{};      // for the vector of all ranks
    MessageCost cost{};   // of each message
    Slices slices{};      // of all channels of a ring or of the trees together
    int rings = 1;        // one for each card of the machines, or pairs of trees
};

/// The start-up of LL on a ring, which all other choices exceed.
constexpr Duration least_nccl_start_up{6'600'000};

/// Returns what the library takes for a vector of S bytes (of an all-gather: all blocks together)
/// among n devices, which fill machines, but for the last. Requires n >= 2.
NcclChoice nccl_choice(const Nccl& library, Nccl::Operation operation, Bytes size, int n);

/// Returns the same library for groups of one device of each machine, which has one card.
Nccl among_machines(Nccl library);

/// Returns the share of a device that the kernels of a large all-reduce of n devices hold: a block
/// of threads for each channel, each on a multiprocessor of its own.
double nccl_share_of_device(const Nccl& library, int n);

std::string_view name_of(Nccl::Algorithm algorithm);
std::string_view name_of(Nccl::Protocol protocol);

}  // namespace paceline
