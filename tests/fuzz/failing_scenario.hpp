// Random scenarios whose nodes fail: small, valid, and long enough for tens of deaths.
//
// Two to eight nodes, of a device or a few, take steps of about a millisecond. Nodes die in bursts, in the first and the
// last steps, while they return and while they wait to join; some join late, some never return.
// Often links change or go down, other traffic and other jobs run beside, and nodes differ in
// speed. The algorithm is any that accepts what is chosen, asynchronous ones most often; a few
// scenarios train a tiny model. Every scenario has a limit of simulated time.
#pragma once

#include <cstdint>

#include "app/json/json_file.hpp"
#include "tests/fuzz/random_scenario.hpp"

namespace paceline {

/// The same seed gives the same scenario, byte for byte. It names files of companions(). With
/// emphasis on the network it is shorter, its fabric is any one, and most algorithms are as likely
/// as one another.
Json failing_scenario(std::uint64_t seed, Emphasis emphasis = Emphasis::everything);

}  // namespace paceline
