#include "algorithms/sgp.hpp"

#include <utility>

#include "algorithms/optimizers/momentum_change.hpp"
#include "algorithms/push_sum.hpp"

namespace paceline {

Task<> sgp(Worker& self, SgpOptions options) {
    Vector& z = self.model();
    PushSum mine{z};
    Vector m = Vector::zero_like(z);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(z);
        mine.x += momentum_change(options.rule, gamma, g, m, z);
        mine = co_await push_sum(self, std::move(mine));
        z = mine.debiased();
        co_await self.update();
    }
}

}  // namespace paceline
