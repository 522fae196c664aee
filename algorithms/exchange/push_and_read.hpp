// A worker of a parameter server that pushes steps and reads models. This is the part that the
// asynchronous and the stale-synchronous methods share; they differ in when and with which model
// the server answers.
//
// Worker i, over and over:
//   m_i  <-  beta m_i + g_i(x_i)                  g_i at the model that it read last
//   sends  (gamma / n) m_i,  waits for x, reads   x_i  <-  x
//
//   symbol   here         meaning
//   x_i      read         worker i's copy of the server's model
//   m_i      m            momentum of worker i, 0 at first
//   gamma    the learning rate of the worker's step
//   beta     momentum, in [0, 1)
//
// The worker blocks until the answer comes; nothing overlaps. Each step moves one model up and one
// down. A worker that dies pushes no more. A worker that returns reads the current model. Sources:
// those of async_sgd.hpp and stale_synchronous_sgd.hpp, which describe the server side.
#pragma once

#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// The box in which the server gets pushes, and a worker its answers.
inline constexpr int push_inbox = 0;

/// Requires one server, which answers each push with a model. The `number` of a letter is the count
/// of pushes that a model includes: in an answer, the model that is sent; in a push, the model at
/// which the gradient was taken.
Task<> push_and_read(Worker& self, double momentum);

}  // namespace paceline
