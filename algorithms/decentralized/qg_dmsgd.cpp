#include "algorithms/decentralized/qg_dmsgd.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> qg_dmsgd(Worker& self, QgDmsgdOptions options) {
    const double beta = options.momentum;
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        const Vector h = x - gamma * (beta * m + g);
        const Vector mixed = co_await self.neighbor_average(h);
        m = beta * m + (1 - beta) * (x - mixed) / gamma;
        x = mixed;
        co_await self.update();
    }
}

}  // namespace paceline
