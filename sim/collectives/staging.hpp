// Staging: a library that cannot reach device memory copies a vector to its host, exchanges it
// there, and copies the result back. Timing plane only.
//
//   T  =  g I/R  +  messages  +  g O/R
//
// for I bytes in and O bytes out of each member, g members on its machine that copy at once, and R
// the rate of copies between the devices of one machine and its host memory, which they share
// evenly. The copies are in series with the messages: nothing is sent before the last byte is on
// the host.
//
// Limits: members of a machine are assumed to copy together; the copies do not slow messages on the
// bus.
#pragma once

#include <functional>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns the time that a member's copy of `size` takes; 0 without staging, and for a group of
/// one.
Duration staging_time(const Rank& self, Bytes size);

/// Carries out `messages` between the two copies. `out` is called when the messages are through.
Task<> staged(Rank self, Bytes in, std::function<Bytes()> out, Task<> messages);

}  // namespace paceline
