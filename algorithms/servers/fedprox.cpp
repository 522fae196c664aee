#include "algorithms/servers/fedprox.hpp"

#include <cstdint>
#include <utility>

#include "algorithms/mail/letter.hpp"
#include "algorithms/runtime/worker.hpp"
#include "algorithms/servers/fedavg.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

namespace {

Task<> train_for_fedprox(Worker& self, FedproxOptions options, std::int64_t round, Client& client) {
    const Letter sent = co_await letter_of_round(self, round);
    const Vector& first = *sent.vector;
    Correction pull;
    if (options.mu > 0) pull = [&](const Vector& x, Vector& g) { g += options.mu * (x - first); };
    Vector x = co_await local_steps(self, options.rounds, first, pull);
    co_await hand_in_model(self, options.rounds, round, std::move(x), first, client);
}

}  // namespace

Task<> fedprox(Worker& self, FedproxOptions options) {
    return train_in_rounds(self, options.rounds,
                           [&self, options](std::int64_t round, Client& client) {
                               return train_for_fedprox(self, options, round, client);
                           });
}

Task<> fedprox_server(Worker& self, FedproxOptions options) {
    return fedavg_server(self, options.rounds);
}

}  // namespace paceline
