// Of an algorithm and a protocol that NCCL has chosen: how many channels carry the vector, and how
// much of it a channel passes on as one message.
//
// Source: NVIDIA/nccl at 5067397, src/enqueue.cc (topoGetAlgoInfo, calcCollChunking),
// src/transport/nvls.cc (ncclNvlsTuning, ncclNvlsTreeSm100Tuning; a card counts as behind the same
// PCIe switch as its device), src/include/comm.h (thresholds).
#pragma once

#include <cstdint>

#include "sim/collectives/plans/nccl.hpp"
#include "sim/collectives/plans/nccl_tuning.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

int nccl_channels(const NcclTuning& tuning, Nccl::Algorithm algorithm, Nccl::Protocol protocol,
                  Bytes size);

/// Bytes that one of `channels` passes on at a time.
std::int64_t nccl_slice_of_channel(const NcclTuning& tuning, Nccl::Algorithm algorithm,
                                   Nccl::Protocol protocol, int channels, Bytes size);

}  // namespace paceline
