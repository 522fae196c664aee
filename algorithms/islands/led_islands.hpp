// Islands (islands.hpp) of a method of letters: gossip between pairs, servers, federated rounds.
//
// What such a method does next depends on which letters have come, and a letter comes to one
// device. So the first device of an island alone runs the method, and the others follow it:
//
//   letters       go between first devices, and servers
//   gradient(x)   an order, a letter without bytes, goes to each of the others; what letters have
//                 brought since the last gradient is broadcast inside, k vectors for the most that
//                 one letter held; then all take part in the inner method's mean gradient at x
//   update()      an order, and the inner method's update on all devices
//
//   a gradient takes        broadcast(k S) + l + what that of the inner method takes
//                           l: latency of an order; S: bytes of a model
//
// The others count the steps of the first device, and have its model. At a barrier it stands for
// all of them.
//
// Limits: what drops a step that is under way (deadlines of rounds, clients that are not waited
// for) has no islands, since an exchange inside would never end; nor do nodes that fail on their
// own. Source: own choice; it is what a trainer does whose rank 0 talks to the server, as in
// cross-silo federated learning.
#pragma once

#include <functional>

#include "algorithms/islands/islands.hpp"
#include "sim/engine/shared_value.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Runs a method of letters on a device of an island.
Task<> on_led_islands(Worker& device, SharedValue<IslandOptions> options,
                      std::function<Task<>(Worker&)> outer);

/// Runs the server of such a method.
Task<> serve_islands(Worker& server, SharedValue<IslandOptions> options,
                     std::function<Task<>(Worker&)> serve);

}  // namespace paceline
