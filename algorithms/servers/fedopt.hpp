// FedOpt: FedAvg whose server takes the mean change of a round as a gradient for an optimizer of
// its own.
//
// Round r (client_rounds.hpp): clients train as in FedAvg (fedavg.hpp). Then, with x_i of the
// clients K in time,
//   D  <-  sum over i in K of (n_i / sum over K of n_j) (x_i - x),   or of C(x_i - x) with a
//          compressor
//   m  <-  beta1 m + (1 - beta1) D
//   v  <-  beta2 v + (1 - beta2) D^2                            adam
//          v - (1 - beta2) D^2 sign(v - D^2)                    yogi
//          v + D^2                                              adagrad
//   x  <-  x + eta m / (sqrt(v) + tau)                          entry by entry
// or, by the rule "momentum" (FedAvgM),
//   m  <-  beta1 m + D,   x  <-  x + eta m
//
//   symbol   here                           meaning
//   D        change                         minus a gradient, scaled by the clients' learning rates
//   m, v     m, v                           on the server; m is 0 at first, v is tau^2
//   eta      options.server_learning_rate   constant; the job's learning rate is that of the local
//                                           steps
//   tau      options.tau                    above 0: the smaller, the more entries differ in their
//                                           step sizes
//
// There is no bias correction, as in the paper. The server's arithmetic takes no time, so state of
// workers, what blocks, messages and bytes are those of FedAvg.
//
// Reductions: momentum with beta1 = 0 and eta = 1 is FedAvg. With all clients and one local step of
// plain SGD, D is -gamma times the mean gradient: then this is Adam, Yogi, Adagrad or momentum SGD
// on it.
//
// Source: Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar, McMahan, "Adaptive Federated
// Optimization", ICLR 2021 (arXiv 2003.00295), Algorithm 2; only its abstract and introduction were
// available. The rules are those of Flower (adap/flower, src/py/flwr/server/strategy: fedadam.py
// @18638bc, fedyogi.py @05c252a, fedadagrad.py @187f825, fedavgm.py @05c252a), which cites the
// paper; so are the defaults (usual_fedopt), but for FedAvgM's beta1, which is 0 there: that is
// FedAvg. v = tau^2 at first: from memory, unverified; Flower begins with 0. The authors' own runs
// (google-research/federated, optimization/README.md @1af5ff1 and docs/hyperparameters.md @0f29cad)
// take optimizers of Keras: Adam with bias correction, v = 0 at first, beta2 0.999; and momentum
// 0.9 for FedAvgM. Weights by samples as in Flower; the paper's algorithm has a plain mean (from
// memory, unverified).
#pragma once

#include <cstdint>

#include "algorithms/servers/client_rounds.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

enum class ServerRule : std::uint8_t { adam, yogi, adagrad, momentum };

struct FedoptOptions {
    RoundOptions rounds{};
    ServerRule rule = ServerRule::adam;
    double server_learning_rate = 0.1;  // eta
    double beta1 = 0.9;                 // in [0, 1)
    double beta2 = 0.99;                // in [0, 1), of adam and yogi
    double tau = 1e-9;                  // of all rules but momentum
};

/// Returns the defaults of each rule.
[[nodiscard]] inline FedoptOptions usual_fedopt(ServerRule rule) {
    FedoptOptions options{.rule = rule};
    if (rule == ServerRule::yogi) {
        options.server_learning_rate = 0.01;
        options.tau = 1e-3;
    }
    if (rule == ServerRule::adagrad) options.beta1 = 0;
    if (rule == ServerRule::momentum) options.server_learning_rate = 1;
    return options;
}

/// Updates m, v and x, given D (`change`).
void fedopt_step(const FedoptOptions& options, const Vector& change, Vector& m, Vector& v,
                 Vector& x);

Task<> fedopt(Worker& self, FedoptOptions options);

/// Runs the one server.
Task<> fedopt_server(Worker& self, FedoptOptions options);

}  // namespace paceline
