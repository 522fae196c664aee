// Stale-synchronous SGD with a parameter server: a worker may be up to s steps ahead of the slowest
// one, and waits beyond that.
//
// Worker i, in its step c = 0, 1, ... (push_and_read.hpp):
//   m_i  <-  beta m_i + g_i(x_i)                  g_i at the model that it read last
//   sends  (gamma / n) m_i,  waits for x, reads   x_i  <-  x
//
// The server, for each push p in the order of arrival:
//   x    <-  x - p,   c_i  <-  c_i + 1            c_i: the steps of worker i that x includes
//   answers, one after the other in the order of their pushes, all i with  c_i  <=  min_j c_j + s
//
// So the model that a worker reads for its step c includes at least the first c - s steps of every
// worker, and all c of its own. With s = 0 the server takes all n pushes and then sends n answers:
// x
// moves by  gamma (1/n) sum of m_i, which is synchronous momentum SGD. With s large it is
// asynchronous SGD (async_sgd.hpp).
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
// State: x and the clocks on the server, x_i and m_i on each worker. A worker blocks until its
// answer comes, and so waits for workers that are more than s steps behind. Nothing overlaps on one
// worker. Bytes per step and worker: one model up, one down.
//
// Nobody waits for a worker that has died: the minimum of c_j is over the workers that are present.
// A worker that returns takes part from step c on and gets c_i = c, as if it had taken all steps
// before. The server learns of a death or a return at once. It applies a push of a worker that has
// died since, but answers it no more, even if that worker has returned.
//
// Limits: there is one server, on a node of its own behind the workers. It takes one push at a
// time, and its arithmetic takes no time. A worker reads in every step, where the released code
// reads its cache if that is fresh enough.
//
// Source: Ho et al., NIPS 2013 (its abstract was available). The rule is that of the authors'
// released code: sailing-pmls/bosen, ssp_consistency_controller.cpp @67a4bde, where a read at clock
// c waits until the row is at clock c - s. Momentum in the worker and the order of answers are
// choices made here.
#pragma once

#include <cstdint>

#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct StaleSynchronousSgdOptions {
    std::int64_t bound = 3;  // s
    double momentum = 0.9;   // beta
};

Task<> stale_synchronous_sgd(Worker& self, StaleSynchronousSgdOptions options);

/// The coroutine of the server, of which there is one.
Task<> stale_synchronous_sgd_server(Worker& self, StaleSynchronousSgdOptions options);

}  // namespace paceline
