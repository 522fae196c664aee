// What NCCL takes for a collective of one size: algorithm, protocol, channels, and what its
// messages then cost. No messages are here; nccl_collectives.hpp sends them.
//
// The choice is the library's own: for each algorithm and protocol it estimates
//
//   T  =  base + steps * hop + S / (bus bandwidth * n / steps)
//
// from a table, and takes the least. n ranks; a ring has 2(n-1) steps for an all-reduce, n-1 for an
// all-gather or a reduce-scatter; a tree has 2 (g-1 + floor(log2 p)) with g ranks on each of p
// machines. The bus bandwidth is that of a device inside one machine, and otherwise what the
// library's search finds on lanes and cards (nccl_tuning.hpp).
//
//   protocol    bytes on the wire    most of a line for payload         slice of a channel
//   LL          2 S                  half, and a bound by generation    32 KiB
//   LL128       16/15 S              0.92                               576 KiB; trees less
//   Simple      S                    all                                1 MiB; trees 512 KiB
//
// Of c channels, a vector uses so many that each of their 512 threads (LL128: 640) has 64 bytes
// (LL128, LL over a tree: 8; LL over a ring: 8 n); the others' share of the line is idle.
//
// Sums in switches, by Simple, are for all-reduces of full machines. Their latencies, and where the
// library considers them:
//
//   NVLS            25 us: a machine's switch sums up. 43 us: over machines, with CollNet
//   NVLSTree        25 us + 2 floor(log2 p) 20.9 us: switches of p machines of two cards or
//                   more, and trees between these
//   CollNetDirect   31 us + 2 (3.7 + 0.4 (g-1)) us: the network's switches sum up, over machines of
//                   up to 8 devices behind an NVLink switch
//   CollNetChain    30 us + 2 (g-1) 2.8 us: the same over machines of up to 8 devices
//
// Their bus bandwidths are those of nccl_tuning.hpp.
//
// in_switches.hpp carries them out. A head passes on no more than the library's table says: its
// lane's efficiency, 45.5 GB/s of the bus by NVLSTree (Hopper; 57.7 on two machines), 0.85 of its
// card by CollNetDirect from Hopper on. All eight steps of a buffer are under way, so that a hop
// only delays. Half of the 25 us is for sums and half for copies.
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
// In one machine's switch (NVLS) each device sends and receives S (n+1)/n at 0.85 of its line,
// behind 25 us. All-gathers and reduce-scatters gain nothing by switches here: NVLS is estimated to
// take longer than a ring, and CollNet's need calls that a network's plug-in may lack. PAT, for the
// two on machines of one device, is not modeled.
//
// Units: GB/s and us. Source: NVIDIA/nccl at 5067397: nccl_table.hpp, nccl_tuning.hpp and
// nccl_slices.hpp name files and functions; src/graph/connect.cc (ncclTopoPostset doubles the
// channels), src/init.cc (CollNet from two machines on: NCCL_COLLNET_NODE_THRESHOLD).
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
    enum class Algorithm : std::uint8_t {
        ring,
        tree,
        collnet_direct,
        collnet_chain,
        nvls,
        nvls_tree
    };
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
    bool over_nvlink = true;               // inside a machine; else over PCIe
    bool over_switch = true;               // inside a machine; else each pair has a link of its own
    bool has_switch_sums = false;          // in the switches of machines
    bool has_collnet = false;              // sums in the switches between machines
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
    int heads = 1;        // of a machine, if switches sum up: each carries a shard of the vector
    Bandwidth of_head{};  // what it passes on of its shard, at most
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
