// SCAFFOLD: FedAvg whose clients correct each local gradient by what they know of the others'
// gradients, so that shards that differ do not make them drift apart.
//
// Round r (client_rounds.hpp), with S the clients that are asked and K those whose changes come in
// time:
//   server sends x and c to each i in S
//   each i in S:   y_i   <-  x,  then E times   y_i  <-  y_i - gamma (g_i(y_i) - c_i + c)
//                  c_i+  <-  c_i - c + (x - y_i) / G          G: the sum of gamma over these steps
//   each i in S sends  dy_i = y_i - x  and  dc_i = c_i+ - c_i
//   x    <-  x + eta (1/|K|) sum over i in K of dy_i
//   c    <-  c + (1/n) sum over i in K of dc_i
//   c_i  <-  c_i+  for i in K
//
// With a compressor C (SCALLION) each i in S sends one vector, and the server and the client take
// what arrives of it:
//   d_i  <-  C(alpha ((x - y_i) / G - c)),   c_i+ <- c_i + d_i,   dc_i = d_i,   dy_i = -G (d_i + c)
//
//   symbol   here                 meaning
//   x        x                    the server's model, which is measured
//   y_i      y                    of a client, within one round
//   g_i      g                    stochastic gradient on one batch of the worker's shard
//   c        c                    control variate of the server: the mean of all c_i; 0 at first
//   c_i      control_of(i)        control variate of client i: its mean gradient in its last round;
//                                 0 at first
//   gamma    learning rate of the worker's step (the paper's eta_l)
//   alpha    options.scaling      in (0, 1]: how much of a change c_i takes; less if C is coarse
//   eta      options.server_learning_rate   above 0 (the paper's eta_g); 1: the mean of the models
//   n        all workers, present or not;  E = options.rounds.local_steps (the paper's K)
//
// (x - y_i) / G is the mean of the corrected gradients, weighted by gamma, so c_i+ is that of the
// g_i: the paper's option II, whose K eta_l is G where gamma is constant. If G is 0, c_i stays.
// Clients count alike, whatever their shards, and there is no momentum: the optimizer's is not
// used.
//
// A client renews c_i only if its change counts, which it learns as it learns that the round is
// over. So c is always the mean of all c_i, whoever is late. c_i is on the client's disk: it
// outlives absences.
//
// State: x and c on the server; c_i on each worker. What blocks is that of all rounds. Bytes of a
// round: two models down and two up for each worker in S, in one message each way, or up what the
// compressor makes of one; the corrections take no time of their own.
//
// Reductions: one client is plain SGD, as is one local step of all clients with eta = 1 (c cancels
// in the mean). A compressor that loses nothing changes nothing at alpha = 1, since
// -G ((x - y) / G - c + c) = y - x.
//
// What d_i loses is in the next one: it is taken from (x - y_i) / G - c, the mean gradient less the
// c_i that holds all d_i so far. So there is no error feedback. The paper's bound is for unbiased
// compressors; any is taken here.
//
// Source: Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, ICML 2020 (arXiv 1910.06378), Algorithm
// 1; of the paper only the abstract was available. The steps and option II: Flower's baseline
// (adap/flower, baselines/niid_bench: client_scaffold.py @09d72eb, server_scaffold.py @91ba57f).
// Means without weights, eta = 1 and zeros at first: FLGo (WwZzz/easyFL,
// resources/algorithm/scaffold.py @f0721ad); Flower begins with the parameters and adds momentum
// before the correction. SCALLION: Huang, Li, Li, ICLR 2024 (arXiv 2308.08165), of which the
// abstract was read; its rule is from memory and agrees with a reimplementation in Flower.
// Deviations: G in place of K eta_l; which clients renew c_i where changes come too late, which
// that code does not have.
#pragma once

#include "algorithms/servers/client_rounds.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct ScaffoldOptions {
    RoundOptions rounds{};            // without momentum and error feedback
    double server_learning_rate = 1;  // eta
    double scaling = 1;               // alpha; of the compressor
};

Task<> scaffold(Worker& self, ScaffoldOptions options);

/// Runs the one server.
Task<> scaffold_server(Worker& self, ScaffoldOptions options);

}  // namespace paceline
