// A method whose workers are islands (runtime/island.hpp).
//
// The devices of an island train one replica by an inner method, whose optimizer's step is that of
// the outer method:
//
//   dense   gradients are exchanged inside by any codec, aggregation and schedule
//           (exchange/exchange.hpp); every device takes the whole update
//   zero    gradients, and parameters in stage 3, are sharded over the island (dense/zero.hpp);
//           every device takes the update of its shard
//
//   a gradient of island i      g_i = (1/g_i) sum over its devices d of g_d(x_i), exactly: dense
//                               without a codec, and zero
//
// Reductions: one island, under a method that averages models, is its inner method: local SGD is
// dense SGD, local Adam is ZeRO's Adam. Two islands whose models are averaged after every step of
// SGD with momentum are one job of dense SGD. Islands of one device are the outer method.
//
// Failures: an island is absent while any of its devices is (lives/failures.hpp), also if its inner
// method could do with fewer. To the outer method it is a worker that is away. What its devices
// remember besides the model is lost.
//
// Limits: methods that exchange gradients have no islands; those of letters have led ones
// (led_islands.hpp). Every device keeps the values of the whole model, whatever its memory is
// charged for. If an island dies when some of its lanes have ended an exchange and others have not,
// those who go on have the mean of its first lane.
//
// Source: torchft's HSDP with DiLoCo (meta-pytorch/torchft), INTELLECT-1 (arXiv 2412.01152): each
// rank of an island exchanges its shard of the outer gradient with the same ranks elsewhere.
#pragma once

#include <functional>

#include "algorithms/islands/inner_methods.hpp"
#include "sim/engine/shared_value.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Runs an outer method on a device of an island.
Task<> on_islands(Worker& device, SharedValue<IslandOptions> options,
                  std::function<Task<>(Worker&)> outer);

}  // namespace paceline
