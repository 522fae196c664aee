#include "algorithms/decentralized/dsgd_awc.hpp"

#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dsgd_awc(Worker& self) {
    Vector& x = self.model();

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        Pending<Vector> averaging = self.start(self.neighbor_average(x));
        const Vector g = co_await self.gradient(x);
        const Vector mixed = co_await std::move(averaging);
        x = mixed - gamma * g;
        co_await self.update();
    }
}

}  // namespace paceline
