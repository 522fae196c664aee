#include "algorithms/decentralized/dsgd.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dsgd(Worker& self) {
    Vector& x = self.model();

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        x = co_await self.neighbor_average(x - gamma * g);
        co_await self.update();
    }
}

}  // namespace paceline
