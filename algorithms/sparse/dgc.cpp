#include "algorithms/sparse/dgc.hpp"

#include <cstddef>
#include <utility>

#include "algorithms/compression/half.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/runtime/worker.hpp"
#include "algorithms/exchange/dgc_memory.hpp"
#include "algorithms/exchange/exchange_choice.hpp"

namespace paceline {

Task<> exchange_sparse(Worker& self, DgcOptions options, LayoutPtr layout, StageExchange stage) {
    if (stage.dense) {
        co_await self.all_reduce(Vector(layout), options.all_reduce, dense_bytes(options, *layout));
        co_return;
    }
    if (options.exchange == SparseExchange::recursive_doubling) {
        const UnionWeight weight = [&](const Union& merged) {
            return union_bytes(options, *layout, stage.density, merged.count);
        };
        co_await self.sparse_all_reduce(weight);
    } else {
        const auto how = options.exchange == SparseExchange::all_gather_ring ? AllGather::ring
                                                                             : AllGather::bruck;
        co_await self.all_gather(union_bytes(options, *layout, stage.density, 1), how);
    }
    if (options.uncompressed == Uncompressed::gathered) co_return;
    if (layout->incompressible_entries() == 0) co_return;
    co_await self.all_reduce(Vector(layout), options.all_reduce,
                             uncompressed_bytes(*layout, options.format));
}

namespace {

// Means over the workers: of the sent entries, and of the gradients of uncompressed tensors if they
// had an exchange of their own (empty otherwise).
struct Aggregate {
    Vector sent;
    Vector rest;
};

LayoutPtr rest_of(std::int64_t entries) {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"uncompressed", {entries}}});
}

// Casts values that travel in half precision.
void cast(const SparseFormat& format, Eigen::VectorXd& values) {
    if (format.half) cast_to_half({values.data(), static_cast<std::size_t>(values.size())});
}

// Returns the entries of the tensors that are not compressible, in sequence, as they are sent.
Vector rest_of(const DgcOptions& options, const Vector& g) {
    const Layout& layout = *g.layout();
    Eigen::VectorXd rest(layout.incompressible_entries());
    Eigen::Index end = 0;
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Tensor& tensor = layout.tensors()[j];
        if (tensor.compressible()) continue;
        rest.segment(end, tensor.entries()) =
            g.values().segment(layout.offset(j), tensor.entries());
        end += tensor.entries();
    }
    cast(options.format, rest);
    return {rest_of(rest.size()), std::move(rest)};
}

// Applies local clipping, and weight decay if it is in the compressed path.
void prepare(const DgcOptions& options, int nodes, const Vector& x, Vector& g) {
    if (options.clip > 0) clip_locally(options.clip, nodes, g.writable());
    if (options.weight_decay != 0 && options.decay == DecayPlace::compressed)
        g += options.weight_decay * x;
}

// Computes the gradient at x, then selects and exchanges this worker's entries.
Task<Aggregate> exchange_values(Worker& self, const DgcOptions& options, StageExchange stage,
                                const Vector& x, DgcMemory& memory) {
    const Layout& charged = *self.charged_layout();
    const bool whole = stage.dense || options.uncompressed == Uncompressed::gathered ||
                       charged.incompressible_entries() == 0;
    SparseVector sent;
    Vector own_rest(rest_of(0));
    co_await self.gradient(x, [&](Vector g) {
        prepare(options, self.workers(), x, g);
        sent = compress(options, g.layout(), stage.density, whole, g.values(), memory);
        if (!whole) own_rest = rest_of(options, g);
    });
    co_await self.compute(selection_time(options.selection, charged, stage.density));
    Aggregate aggregate{Vector(x.layout()), Vector(rest_of(0))};
    SparsePacking packing{options.format, self.stands_in() ? self.charged_layout() : nullptr, whole,
                          stage.density};
    if (stage.dense) packing.dense = options.all_reduce;
    aggregate.sent =
        co_await self.sparse_all_reduce(std::move(sent), options.exchange, std::move(packing));
    if (!whole)
        aggregate.rest = co_await self.all_reduce(std::move(own_rest), options.all_reduce,
                                                  uncompressed_bytes(charged, options.format));
    co_return aggregate;
}

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
void descend(const DgcOptions& options, double gamma, const Aggregate& mean, Replicas at) {
    if (options.weight_decay != 0 && options.decay == DecayPlace::outside)
        decay_outside(options, gamma, at);
    const double beta = options.momentum;
    const Layout& layout = *at.x.layout();
    Eigen::VectorXd& x = at.x.writable();
    Eigen::VectorXd& momentum = at.momentum.writable();
    Eigen::Index rest = 0;
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Eigen::Index n = layout.tensors()[j].entries();
        const bool compressed = layout.tensors()[j].compressible();
        const bool apart = !compressed && mean.rest.entries() > 0;
        const auto g = apart ? mean.rest.values().segment(std::exchange(rest, rest + n), n)
                             : mean.sent.values().segment(layout.offset(j), n);
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

// Returns the mean over the workers of the gradients at x, exchanged dense.
Task<Vector> dense_mean(Worker& self, const DgcOptions& options, const Vector& x) {
    if (!options.format.half) co_return co_await self.mean_gradient(x, options.all_reduce);
    Vector g = co_await self.gradient(x);
    if (g.has_values()) cast(options.format, g.writable());
    co_return co_await self.all_reduce(std::move(g), options.all_reduce,
                                       dense_bytes(options, *self.charged_layout()));
}

// Density 1: a step of dense momentum SGD.
Task<> take_dense_step(Worker& self, const DgcOptions& options, Replicas at) {
    const Vector mean = co_await dense_mean(self, options, at.x);
    if (self.timing_only()) co_return;
    self.once(self.step(), [&] {
        const bool outside = options.decay == DecayPlace::outside;
        if (options.weight_decay != 0 && outside) decay_outside(options, self.learning_rate(), at);
        const MomentumRule rule{options.momentum, options.nesterov,
                                outside ? 0 : options.weight_decay, options.clip};
        momentum_step(rule, self.learning_rate(), mean, at.momentum, at.x);
    });
}

Task<> take_sparse_step(Worker& self, const DgcOptions& options, StageExchange stage, Replicas at,
                        DgcMemory& memory) {
    if (self.timing_only()) {
        const LayoutPtr charged = self.charged_layout();
        co_await self.gradient(at.x);
        co_await self.compute(selection_time(options.selection, *charged, stage.density));
        co_await exchange_sparse(self, options, charged, stage);
        co_return;
    }
    const Aggregate mean = co_await exchange_values(self, options, stage, at.x, memory);
    self.once(self.step(), [&] { descend(options, self.learning_rate(), mean, at); });
}

}  // namespace

Task<> dgc(Worker& self, DgcOptions options) {
    Vector& x = self.replicated_model();
    const Replicas replicas{x, self.replicated("momentum"), self.replicated("decay momentum")};
    const Eigen::Index kept = self.timing_only() ? 0 : x.entries();
    DgcMemory memory = make_dgc_memory(kept, self.stream("selection"));
    StageExchange stage;
    bool after_dense = true;  // the replicas hold the momentum, also where a process begins anew

    while (self.keeps_training()) {
        const double density = density_at(options, self.step(), self.epoch());
        if (density == 1) {
            co_await take_dense_step(self, options, replicas);
        } else {
            if (after_dense && !self.timing_only()) memory.velocity = replicas.momentum.values();
            if (density != stage.density)
                stage = stage_exchange(options, *self.charged_layout(), density, self.workers());
            co_await take_sparse_step(self, options, stage, replicas, memory);
        }
        after_dense = density == 1;
        co_await self.update();
    }
}

}  // namespace paceline
