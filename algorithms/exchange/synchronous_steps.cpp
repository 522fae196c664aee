#include "algorithms/exchange/synchronous_steps.hpp"

#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

Task<> steps_into_forward(Worker& self, VectorExchange& exchange, const ReplicatedUpdate& update) {
    const Vector& x = self.replicated_model();
    double gamma = 0;  // of the step whose pieces are under way
    const VectorExchange::Update behind = [&](std::int64_t k, const Vector& aggregate) {
        self.once(k, [&] { update(k, gamma, aggregate); });
    };
    while (self.begins_step()) {
        const double next = self.learning_rate();
        co_await exchange.step_into_forward(x, behind);
        gamma = next;
    }
    co_await exchange.arrive(behind);
}

}  // namespace

Task<> synchronous_steps(Worker& self, ExchangeOptions options, ReplicatedUpdate update,
                         Preparation prepare) {
    const bool into_forward = options.schedule.begin == Begin::into_forward;
    VectorExchange exchange(self, std::move(options), std::move(prepare));
    if (into_forward) {
        co_await steps_into_forward(self, exchange, update);
        co_return;
    }
    const Vector& x = self.replicated_model();
    while (self.begins_step()) {
        const Vector aggregate = co_await exchange.mean_gradient(x);
        const std::int64_t k = self.step();
        self.once(k, [&] { update(k, self.learning_rate(), aggregate); });
        co_await self.update();
    }
}

}  // namespace paceline
