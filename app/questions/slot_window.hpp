// Whether the slots of a ring keep a line from being filled (sim/collectives/pipelined.hpp).
//
// A hop of the ring has w slots of s bytes. One is free again t + L + L' after its slice has set
// out: t on the wire, L until it is there, L' until the sender knows. So slots bind where
//
//   w t < t + L + L',      and then at most  w s / (t + L + L')  bytes per second move there.
//
// Hops that other traffic shares are taken as idle.
#pragma once

#include <optional>

#include "app/scenario/scenario.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct SlotWindow {
    int from = 0;  // worker
    int to = 0;
    int slots = 0;
    Bytes slice{};
    Duration on_the_line{};  // w t
    Duration returns{};      // t + L + L'
    double most_bytes_per_s = 0;
    double line_bytes_per_s = 0;
};

/// Returns the hop on which slots bind most; none if they bind on no hop, if the step's all-reduce
/// is no flat ring with slots, or if it has fewer slices than slots.
std::optional<SlotWindow> binding_slots(const Scenario& scenario);

}  // namespace paceline
