#include "algorithms/sparse/dgc.hpp"

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/coders/sparse_coder.hpp"
#include "algorithms/compression/half.hpp"
#include "algorithms/compression/none.hpp"
#include "algorithms/exchange/exchange.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// State that is equal on all workers and stored once.
struct Replicas {
    Vector& x;
    Vector& momentum;        // for entries that arrive without momentum
    Vector& decay_momentum;  // of weight decay outside the compressed path
};

// x <- x - gamma d, d the momentum of weight decay.
void decay_outside(const DgcOptions& options, double gamma, const Replicas& at) {
    const double lambda = options.weight_decay;
    const double beta = options.momentum;
    Eigen::VectorXd& x = at.x.writable();
    Eigen::VectorXd& d = at.decay_momentum.writable();
    d = beta * d + lambda * x;
    if (options.nesterov)
        x -= gamma * (lambda * x + beta * d);
    else
        x -= gamma * d;
}

// Plain SGD for entries that already include momentum, ordinary momentum for the rest.
void descend(const DgcOptions& options, double gamma, const Vector& mean, Replicas at) {
    if (options.weight_decay != 0 && options.decay == DecayPlace::outside)
        decay_outside(options, gamma, at);
    const double beta = options.momentum;
    const Layout& layout = *at.x.layout();
    Eigen::VectorXd& x = at.x.writable();
    Eigen::VectorXd& momentum = at.momentum.writable();
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Eigen::Index n = layout.tensors()[j].entries();
        const bool compressed = layout.tensors()[j].compressible();
        const auto g = mean.values().segment(layout.offset(j), n);
        auto own = x.segment(layout.offset(j), n);
        auto m = momentum.segment(layout.offset(j), n);
        if (compressed && options.momentum_correction) {
            own -= gamma * g;
            m.setZero();  // the workers hold it; a dense stage that follows begins anew
            continue;
        }
        m = beta * m + g;
        if (options.nesterov)
            own -= gamma * (beta * m + g);
        else
            own -= gamma * m;
    }
}

// Density 1: a step of dense momentum SGD.
void dense_step(const DgcOptions& options, double gamma, const Vector& mean, Replicas at) {
    const bool outside = options.decay == DecayPlace::outside;
    if (options.weight_decay != 0 && outside) decay_outside(options, gamma, at);
    const MomentumRule rule{options.momentum, options.nesterov, outside ? 0 : options.weight_decay,
                            options.clip};
    momentum_step(rule, gamma, mean, at.momentum, at.x);
}

}  // namespace

ExchangeOptions dense_stage(const ExchangeOptions& sparse) {
    ExchangeOptions dense = sparse;
    const bool half = std::get<DgcOptions>(sparse.codec.coder).format.half;
    dense.codec = {half ? make_half() : make_none(), false, CodingCost{}, {}};
    dense.codec.coding.per_entry = {};
    if (dense.aggregation.kind != Aggregation::servers)
        dense.aggregation.kind = Aggregation::all_reduce;
    return dense;
}

Task<> dgc(Worker& self, DgcAlgorithmOptions all) {
    const DgcOptions& options = std::get<DgcOptions>(all.exchange.codec.coder);
    Vector& x = self.replicated_model();
    const Replicas replicas{x, self.replicated("momentum"), self.replicated("decay momentum")};
    // Applies local clipping, and weight decay if it is in the compressed path.
    const auto prepare = [&](const Piece& piece, Vector g) {
        if (!g.has_values()) return g;
        if (options.clip > 0) clip_locally(options.clip, self.workers(), g.writable());
        if (options.weight_decay != 0 && options.decay == DecayPlace::compressed)
            g.writable() += options.weight_decay * x.values().segment(piece.offset, g.entries());
        return g;
    };
    std::vector<DgcMemoryPtr> memories;  // of pieces that travel flat
    VectorExchange sparse(self, all.exchange, {prepare}, {}, [&](CoderPlace place) {
        memories.push_back(dgc_memory_at(self, place));
        return make_sparse_coder(self, all.exchange.codec, all.exchange.aggregation,
                                 std::move(place), memories.back());
    });
    VectorExchange dense(self, dense_stage(all.exchange));
    bool after_dense = true;  // the replicas hold the momentum, also where a process begins anew

    while (self.begins_step()) {
        const bool is_dense = density_at(options, self.step(), self.epoch()) == 1;
        if (after_dense && !is_dense && !self.timing_only())
            for (std::size_t i = 0; i < memories.size(); ++i)
                memories[i]->velocity = part_of(replicas.momentum, sparse.pieces()[i]).values();
        const Vector mean = co_await (is_dense ? dense : sparse).mean_gradient(x);
        if (!self.timing_only())
            self.once(self.step(), [&] {
                const double gamma = self.learning_rate();
                is_dense ? dense_step(options, gamma, mean, replicas)
                         : descend(options, gamma, mean, replicas);
            });
        after_dense = is_dense;
        co_await self.update();
    }
}

}  // namespace paceline
