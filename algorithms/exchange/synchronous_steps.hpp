// The loop of methods that keep one model on all workers and change it by the aggregate of
// gradients:
//
//   for each step k:   G  <-  aggregate of the workers' gradients at x     (exchange.hpp)
//                      update(k, gamma_k, G), once; then the optimizer's time
//
// Into forward (schedule.hpp) the update of step k takes place during the forward pass of step k+1,
// piece by piece on the clock and at once in values.
#pragma once

#include <cstdint>
#include <functional>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Changes replicated state, by the aggregate of step k and the learning rate of that step.
using ReplicatedUpdate = std::function<void(std::int64_t k, double gamma, const Vector& aggregate)>;

/// Trains the replicated model. The steps are the only updates of replicated state (Worker::once).
Task<> synchronous_steps(Worker& self, ExchangeOptions options, ReplicatedUpdate update,
                         Preparation prepare = {});

}  // namespace paceline
