#include "algorithms/compressed/ef_sign_sgd.hpp"

#include <utility>

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> ef_sign_sgd(Worker& self, EfSignSgdOptions options) {
    Vector& x = self.replicated_model();
    const auto as_step = [&](const Piece&, Vector g) {
        return self.learning_rate() * std::move(g);
    };
    co_await synchronous_steps(self, options.exchange,
                               [&](std::int64_t, double, const Vector& mean) { x -= mean; },
                               {as_step});
}

}  // namespace paceline
