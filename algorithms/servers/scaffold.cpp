#include "algorithms/servers/scaffold.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "algorithms/mail/letter.hpp"
#include "algorithms/runtime/worker.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

namespace {

// Returns c_i. Only the server changes it, when a round ends.
Vector& control_of(Worker& self, int client) {
    return self.replicated(fmt::format("control variate of client {}", client));
}

Task<> train_for_scaffold(Worker& self, ScaffoldOptions options, std::int64_t round,
                          Client& client) {
    const Letter sent = co_await letter_of_round(self, round);
    const Vector& x = *sent.vector;
    const Vector& c = *sent.second;
    const Vector correction = c - control_of(self, self.rank());
    Vector y = x;
    double rates = 0;  // G

    do {
        const double gamma = self.learning_rate();
        co_await self.gradient(y, [&](Vector g) { y -= gamma * (std::move(g) + correction); });
        co_await self.update();
        rates += gamma;
    } while (round_goes_on(self, options.rounds));

    Vector dc = rates > 0 ? (x - y) / rates - c : Vector::zero_like(c);
    if (!options.rounds.compressor) {
        Letter changes{.vector = y - x, .second = std::move(dc)};
        co_await hand_in(self, round, std::move(changes), client);
        co_return;
    }
    dc = co_await encode(self, options.rounds, options.scaling * std::move(dc), client);
    Letter changes{.vector = -rates * (dc + c), .second = std::move(dc)};
    co_await hand_in_encoded(self, options.rounds, round, std::move(changes), client);
}

}  // namespace

Task<> scaffold(Worker& self, ScaffoldOptions options) {
    return train_in_rounds(self, options.rounds,
                           [&self, options](std::int64_t round, Client& client) {
                               return train_for_scaffold(self, options, round, client);
                           });
}

Task<> scaffold_server(Worker& self, ScaffoldOptions options) {
    Vector& x = self.replicated_model();
    Vector& c = self.replicated("control variate");
    const ServerPart part{.letter = [&] { return Letter{.vector = x, .second = c}; },
                          .update =
                              [&](const HandedIn& in) {
                                  Vector dy = Vector::zero_like(x);
                                  Vector dc = Vector::zero_like(c);
                                  for (const auto& [client, changes] : in) {
                                      dy += *changes.vector;
                                      dc += *changes.second;
                                      control_of(self, client) += *changes.second;
                                  }
                                  x += options.server_learning_rate /
                                       static_cast<double>(in.size()) * dy;
                                  c += 1.0 / self.workers() * dc;
                              }};
    co_await serve_rounds(self, options.rounds, part);
}

}  // namespace paceline
