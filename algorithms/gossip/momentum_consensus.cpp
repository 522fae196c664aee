#include "algorithms/gossip/momentum_consensus.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> momentum_consensus_of_iterates(Worker& self, MomentumConsensusOptions options) {
    const double omega = options.omega;
    Vector& x = self.model();
    Vector change = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        Pending<Vector> averaging = self.start(neighbors.average(x));
        Pending<Vector> averaging_of_change = self.start(neighbors.average(change));
        const Vector g = co_await self.gradient(x);
        const Vector mixed = co_await std::move(averaging);
        const Vector mixed_change = co_await std::move(averaging_of_change);
        const Vector before = x;
        x = mixed - gamma * g + options.momentum * (omega * mixed_change + (1 - omega) * change);
        change = x - before;
        co_await self.update();
    }
}

Task<> momentum_consensus_of_buffers(Worker& self, MomentumConsensusOptions options) {
    const double omega = options.omega;
    Vector& x = self.model();
    Vector v = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        Pending<Vector> averaging = self.start(neighbors.average(x));
        Pending<Vector> averaging_of_v = self.start(neighbors.average(v));
        const Vector g = co_await self.gradient(x);
        const Vector mixed = co_await std::move(averaging);
        const Vector mixed_v = co_await std::move(averaging_of_v);
        v = options.momentum * (omega * mixed_v + (1 - omega) * v) - gamma * g;
        x = mixed + v;
        co_await self.update();
    }
}

}  // namespace paceline
