#include "algorithms/servers/fedopt.hpp"

#include <Eigen/Core>

#include "algorithms/mail/letter.hpp"
#include "algorithms/runtime/worker.hpp"
#include "algorithms/servers/fedavg.hpp"

namespace paceline {

namespace {

void second_moment_step(const FedoptOptions& options, const Vector& change, Vector& v) {
    const auto squared = change.values().array().square();
    auto all = v.writable().array();
    switch (options.rule) {
        case ServerRule::adam:
            all = options.beta2 * all + (1 - options.beta2) * squared;
            return;
        case ServerRule::yogi:
            all -= (1 - options.beta2) * squared * (all - squared).sign();
            return;
        case ServerRule::adagrad:
            all += squared;
            return;
        case ServerRule::momentum:
            return;
    }
}

Vector filled_like(const Vector& x, double value) {
    if (!x.has_values()) return x;
    return {x.layout(), Eigen::VectorXd::Constant(x.entries(), value)};
}

}  // namespace

void fedopt_step(const FedoptOptions& options, const Vector& change, Vector& m, Vector& v,
                 Vector& x) {
    if (!change.has_values()) return;
    if (options.rule == ServerRule::momentum) {
        m = options.beta1 * m + change;
        x += options.server_learning_rate * m;
        return;
    }
    m = options.beta1 * m + (1 - options.beta1) * change;
    second_moment_step(options, change, v);
    x.writable().array() += options.server_learning_rate * m.values().array() /
                            (v.values().array().sqrt() + options.tau);
}

Task<> fedopt(Worker& self, FedoptOptions options) {
    return fedavg(self, options.rounds);
}

Task<> fedopt_server(Worker& self, FedoptOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("m of the server");
    Vector& v = self.replicated("v of the server", filled_like(x, options.tau * options.tau));
    const ServerPart part{.letter = [&] { return Letter{.vector = x}; },
                          .update =
                              [&](const HandedIn& in) {
                                  const Vector mean = weighted_mean(self, in);
                                  fedopt_step(options, options.rounds.compressor ? mean : mean - x,
                                              m, v, x);
                              }};
    co_await serve_rounds(self, options.rounds, part);
}

}  // namespace paceline
