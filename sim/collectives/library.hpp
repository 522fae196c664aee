// What a communication library adds to the messages of its collectives; by default nothing.
//
//   start_up   from a member's call of a collective until its first message: the library's host
//              thread, its negotiation with other members, the launch on the device. It occupies
//              the member's communication stream and not its device, so k collectives of one stream
//              cost k start-ups. A collective of one member has none.
//   staging    rate of the copies between a machine's devices and its host memory, in series with
//              the messages of a collective (staging.hpp); none: the library reaches device memory
//   sums       bytes of a sum that a member's processor adds up per second, in series with the
//              messages of an all-reduce (plans/all_reduce_plan.hpp); none: sums cost nothing, or
//              are in what messages cost
//   occupies   the share of a device, below 1, that the library's kernels hold while a collective
//              of the device is in progress; 0: copies go by engines of their own. NCCL launches a
//              block of threads for each channel, and a block holds one multiprocessor, also while
//              it waits for a message: 16 channels on the 132 of an H100 are 0.12
//   protocol   when messages of collectives set out (sim/network/network.hpp)
//
// The start-up is the constant part of the alpha-beta model of a whole collective (a + b S), which
// MG-WFBP fits per cluster (Shi, Chu, Li, INFOCOM 2019); what grows with the number of messages is
// the latency of links, and `overhead` at the sender.
#pragma once

#include <optional>

#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network.hpp"

namespace paceline {

struct Library {
    Duration start_up{};
    Protocol protocol = Protocol::rendezvous;
    std::optional<Bandwidth> staging{};
    std::optional<Bandwidth> sums{};
    double occupies = 0;
};

/// The one that adds nothing.
inline constexpr Library plain_library{};

/// Carries out a collective's messages so long after it was called.
Task<> behind(Simulation& simulation, Duration start_up, Task<> messages);

}  // namespace paceline
