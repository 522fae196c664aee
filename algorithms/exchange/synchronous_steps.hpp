// The loop of methods that keep one model on all workers and change it by the aggregate of
// gradients:
//
//   for each step k:   G  <-  aggregate of the workers' gradients at x     (exchange.hpp)
//                      update(k, gamma_k, G), once; then the optimizer's time
//
// Where the mean gradient is formed at once, a worker waits in the frame of this loop alone
// (Worker::mean_gradients), so that thousands of workers need little memory.
//
// Into forward (piece_schedule.hpp) the update of step k takes place during the forward pass of
// step k+1, piece by piece on the clock and at once in values.
//
// Methods with a warm-up exchange by one stage in their first F steps, and by another afterwards.
// All pieces of a step of the warm-up have arrived when it ends. The second stage can go into
// forward: the forward pass of step F waits for nothing, and that of step F+1 is the first that
// waits for pieces.
#pragma once

#include <cstdint>
#include <functional>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/shared_value.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Changes replicated state, by the aggregate of step k and the learning rate of that step.
using ReplicatedUpdate = std::function<void(std::int64_t k, double gamma, const Vector& aggregate)>;

/// Trains the replicated model. The steps are the only updates of replicated state (Worker::once).
Task<> synchronous_steps(Worker& self, SharedValue<ExchangeOptions> options,
                         ReplicatedUpdate update, Preparation prepare = {});

/// What the steps of a stage exchange, and what the aggregate does.
struct SynchronousStage {
    SharedValue<ExchangeOptions> exchange;
    ReplicatedUpdate update{};
    Preparation prepare{};
};

/// The same, but the first `steps` steps belong to `warm_up`. Requires that the warm-up does not go
/// into forward.
Task<> synchronous_stages(Worker& self, std::int64_t steps, SynchronousStage warm_up,
                          SynchronousStage main);

}  // namespace paceline
