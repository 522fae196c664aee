#include "algorithms/fedavg.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include <boost/random/uniform_int_distribution.hpp>

#include "algorithms/optimizers/momentum.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

constexpr int inbox = 0;  // of the server for trained models, of a worker for the model to train
constexpr const char* draws = "clients of a round";

// The rounds' clients, as everybody draws them.
class Clients {
  public:
    Clients(const Worker& self, double fraction)
        : rng_(self.common_stream(draws, 0)),
          nodes_(self.nodes()),
          count_(clients_of_a_round(fraction, nodes_)) {}

    std::vector<int> of_next_round() { return draw_clients(rng_, nodes_, count_); }

  private:
    RandomStream rng_;
    int nodes_;
    int count_;
};

// Trains in the round's first step, which has begun, and those after it.
Task<> train(Worker& self, FedavgOptions options) {
    const int server = self.nodes();
    Letter letter = co_await self.next_letter(inbox);
    Vector x = *std::move(letter.vector);
    Vector m = Vector::zero_like(x);

    std::int64_t left = options.local_steps;
    do {
        const double gamma = self.learning_rate();
        co_await self.gradient(
            x, [&](Vector g) { momentum_step({options.momentum}, gamma, std::move(g), m, x); });
        co_await self.update();
    } while (--left > 0 && self.keeps_training());
    co_await self.post(server, inbox, {.vector = x}, self.weigh(x));
}

// Counts the rest of the round's steps.
void pass_steps(Worker& self, FedavgOptions options) {
    std::int64_t left = options.local_steps;
    while (--left > 0 && self.keeps_training()) {
    }
}

Vector weighted_mean(const Worker& self, const std::map<int, Vector>& models) {
    double samples = 0;
    for (const auto& [rank, model] : models) samples += self.samples(rank);
    Vector mean = Vector::zero_like(models.begin()->second);
    for (const auto& [rank, model] : models) mean += self.samples(rank) / samples * model;
    return mean;
}

}  // namespace

int clients_of_a_round(double fraction, int nodes) {
    // A product that is whole on paper may lie a rounding below.
    return std::max(static_cast<int>(std::floor(fraction * nodes + 1e-9)), 1);
}

std::vector<int> draw_clients(RandomStream& rng, int nodes, int count) {
    PACELINE_CHECK(count >= 1 && count <= nodes, "a round has one client or more, nodes at most");
    std::vector<int> all(static_cast<std::size_t>(nodes));
    std::iota(all.begin(), all.end(), 0);
    for (int i = 0; i < count; ++i) {
        const int j = boost::random::uniform_int_distribution<int>(i, nodes - 1)(rng);
        std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
    }
    all.resize(static_cast<std::size_t>(count));
    std::ranges::sort(all);
    return all;
}

Task<> fedavg(Worker& self, FedavgOptions options) {
    Clients clients(self, options.fraction);
    while (self.keeps_training()) {
        co_await self.meet();  // the round begins
        const bool drawn = std::ranges::binary_search(clients.of_next_round(), self.rank());
        if (drawn) co_await train(self, options);
        if (!drawn) pass_steps(self, options);
        co_await self.meet();  // the server has averaged
    }
}

Task<> fedavg_server(Worker& self, FedavgOptions options) {
    Clients clients(self, options.fraction);
    Vector& x = self.replicated_model();

    for (std::int64_t round = 0;; ++round) {
        co_await self.meet();
        const std::vector<int> chosen = clients.of_next_round();
        std::vector<Task<>> sent;
        for (const int client : chosen)
            sent.push_back(self.post(client, inbox, {.vector = x}, self.weigh(x)));
        co_await when_all(std::move(sent));

        std::map<int, Vector> models;  // summed in the order of ranks
        while (models.size() < chosen.size()) {
            Letter trained = co_await self.next_letter(inbox);
            models.emplace(trained.from, *std::move(trained.vector));
        }
        self.count_participation(static_cast<double>(models.size()) / self.nodes());
        self.once(round, [&] { x = weighted_mean(self, models); });
        co_await self.meet();
    }
}

}  // namespace paceline
