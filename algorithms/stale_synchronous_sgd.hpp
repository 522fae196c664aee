// Stale-synchronous SGD with a parameter server: a worker may be ahead of the slowest by so many
// steps, and waits beyond.
//
// Worker i, in its step c = 0, 1, ... (push_and_read.hpp):
//   m_i  <-  beta m_i + g_i(x_i)                  g_i at the model that it read last
//   sends  (gamma / n) m_i,  waits for x, reads   x_i  <-  x
//
// The server, for each push p in the order of arrival:
//   x    <-  x - p,   c_i  <-  c_i + 1            c_i: the steps of worker i that x has taken in
//   answers, one after the other in the order of their pushes, all i with  c_i  <=  min_j c_j + s
//
// So what a worker reads for its step c holds at least the first c - s steps of everybody, and all c
// of its own. s = 0: all n pushes, then n answers: x moves by  gamma (1/n) sum of m_i, which is
// synchronous momentum SGD. s large: asynchronous SGD (async_sgd.hpp).
//
//   symbol   here         meaning
//   x        x            the server's model, which is measured
//   x_i      read         worker i's copy of it
//   m_i      m            momentum of worker i, 0 at first
//   c_i      clocks.of[i] steps of worker i in x
//   gamma    gamma        learning rate of the worker's step
//   beta     options.momentum, in [0, 1)
//   s        options.bound, 0 or more
//
// State: x and the clocks on the server, x_i and m_i on each worker. Blocks: a worker waits for its
// answer, and with it for those who are more than s steps behind. Nothing overlaps on one worker.
// Bytes per step and worker: one model up, one down.
//
// Nobody waits for a worker that has died: c_j is of those that are there. One that returns is as far
// as the slowest of them. The server learns of either at once.
//
// Limits: one server, on a node of its own behind the workers, which takes one push at a time and
// whose arithmetic takes no time; a worker reads in every step, where implementations cache. Source
// of the idea: Ho et al., NIPS 2013; the rule is from memory, unverified; momentum in the worker and
// the order of answers are choices made here.
#pragma once

#include <cstdint>

#include "algorithms/worker.hpp"

namespace paceline {

struct StaleSynchronousSgdOptions {
    std::int64_t bound = 3;  // s
    double momentum = 0.9;   // beta
};

Task<> stale_synchronous_sgd(Worker& self, StaleSynchronousSgdOptions options);

/// Of the one server.
Task<> stale_synchronous_sgd_server(Worker& self, StaleSynchronousSgdOptions options);

}  // namespace paceline
