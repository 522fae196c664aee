// A worker of a parameter server that pushes steps and reads models: what the asynchronous and the
// stale-synchronous methods have in common. They differ in when the server answers, and with what.
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
// Blocks: the worker waits for its answer; nothing overlaps. Bytes of a step: a model up, one down.
// A worker that dies is one that pushes no more; one that returns reads the model that there is.
// Sources: those of async_sgd.hpp and stale_synchronous_sgd.hpp, which have the servers' sides.
#pragma once

#include "algorithms/worker.hpp"

namespace paceline {

/// The box of the server for pushes, and of a worker for answers.
inline constexpr int push_inbox = 0;

/// Requires one server, which answers each push with a model. The number of either letter is that of
/// the pushes in the model: in a push, of the model at which its gradient was taken.
Task<> push_and_read(Worker& self, double momentum);

}  // namespace paceline
