#include "algorithms/decentralized/gradient_tracking.hpp"

#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> gradient_tracking(Worker& self) {
    Vector& x = self.model();
    Vector y = Vector::zero_like(x);
    Vector g_before = Vector::zero_like(x);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        y = y + g - g_before;
        g_before = g;
        Pending<Vector> models = self.start(self.neighbor_average(x - gamma * y));
        Pending<Vector> directions = self.start(self.neighbor_average(y));
        x = co_await std::move(models);
        y = co_await std::move(directions);
        co_await self.update();
    }
}

}  // namespace paceline
