#include "algorithms/local/noloco.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> noloco(Worker& self, NolocoOptions options) {
    Vector& x = self.model();
    Vector phi = x;
    Vector m = Vector::zero_like(x);
    InnerState inner(x, options.inner);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period)) continue;
        Pending<Vector> models = self.start(neighbors.average(phi));
        Pending<Vector> moves = self.start(neighbors.average(x - phi));
        const Vector mean_phi = co_await std::move(models);
        const Vector mean_d = co_await std::move(moves);
        m = options.outer_momentum * m + options.outer_learning_rate * mean_d +
            options.pull * (mean_phi - phi);
        phi += m;
        x = phi;
    }
}

}  // namespace paceline
