#include "algorithms/decentralized/dmsgd.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dmsgd(Worker& self, DmsgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        m = options.momentum * m + g;
        x = co_await self.neighbor_average(x - gamma * m);
        co_await self.update();
    }
}

}  // namespace paceline
