#include "algorithms/servers/fedavg.hpp"

#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

Task<> train_for_fedavg(Worker& self, FedavgOptions options, std::int64_t round, Client& client) {
    const Letter sent = co_await letter_of_round(self, round);
    Vector x = co_await local_steps(self, options, *sent.vector, nullptr);
    co_await hand_in_model(self, options, round, std::move(x), *sent.vector, client);
}

}  // namespace

Task<> fedavg(Worker& self, FedavgOptions options) {
    return train_in_rounds(self, options, [&self, options](std::int64_t round, Client& client) {
        return train_for_fedavg(self, options, round, client);
    });
}

Task<> fedavg_server(Worker& self, FedavgOptions options) {
    Vector& x = self.replicated_model();
    const ServerPart part{.letter = [&x] { return Letter{.vector = x}; },
                          .update =
                              [&](const HandedIn& in) {
                                  const Vector mean = weighted_mean(self, in);
                                  x = options.compressor ? x + mean : mean;
                              }};
    co_await serve_rounds(self, options, part);
}

}  // namespace paceline
