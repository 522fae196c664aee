// When the pieces of a gradient are exchanged, and in which order.
//
// A piece is a run of consecutive tensors, last layer first, or a part of one. Which pieces there
// are is the job's (StepTiming, algorithms/timing/step_timing.hpp): the whole gradient, buckets of
// a size, each tensor, or tensors merged by a rule. `partition` cuts pieces further, into ranges of
// entries.
//
//   after backward     all pieces are ready when the gradient is complete
//   in phases          the same, and all pieces are encoded before the first travels, and all have
//                      arrived before the first is decoded
//   beside backward    a piece is ready when backward has left its first layer
//   into forward       beside backward; and the next step's forward pass of a layer waits for the
//                      piece of that layer alone, instead of for all pieces
//
//   first-in first-out   pieces begin in the order in which they become ready
//   by priority          of the pieces that are ready on worker 0, the one whose layer comes first
//                        in the forward pass; all workers follow its order, which costs no message
//
// There are `streams` communication streams; piece i travels on stream i mod streams, and a stream
// carries one piece at a time. Streams share the wires.
//
// Sources: buckets beside backward: Li et al., "PyTorch Distributed", VLDB 2020; merged: Shi, Chu,
// Li, "MG-WFBP", INFOCOM 2019; priority, partitions and forward: Peng et al., "ByteScheduler", SOSP
// 2019. In phases: where the host runs ahead of the device, what releases an exchange stands on the
// device's queue behind the coding of other pieces (docs/models/exchanges.md#a-schedule).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/engine/units.hpp"

namespace paceline {

enum class Begin : std::uint8_t {
    after_backward,
    in_phases,
    beside_backward,
    into_forward,
};

/// Returns whether all pieces are complete before the first is encoded.
[[nodiscard]] constexpr bool waits_for_backward(Begin begin) {
    return begin == Begin::after_backward || begin == Begin::in_phases;
}
enum class Order : std::uint8_t { fifo, priority };

struct ExchangeSchedule {
    bool whole = true;  // one piece; otherwise the job's buckets
    Begin begin = Begin::after_backward;
    Order order = Order::fifo;
    int streams = 1;
    std::optional<Bytes> partition{};
};

}  // namespace paceline
