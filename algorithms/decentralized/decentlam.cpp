#include "algorithms/decentralized/decentlam.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> decentlam(Worker& self, DecentlamOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        const Vector mixed = co_await self.neighbor_average(x - gamma * g);
        const Vector g_tilde = (x - mixed) / gamma;
        m = options.momentum * m + g_tilde;
        x -= gamma * m;
        co_await self.update();
    }
}

}  // namespace paceline
