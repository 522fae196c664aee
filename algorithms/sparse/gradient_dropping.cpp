#include "algorithms/sparse/gradient_dropping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "algorithms/coders/sparse_coder.hpp"
#include "algorithms/coders/sparse_or_dense.hpp"
#include "algorithms/compression/half.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_samples = 100'000;

}  // namespace

Duration dropping_time(const SelectionCost& cost, std::int64_t entries) {
    if (cost.method == Selection::free || entries < 2) return {};
    const auto sorted = static_cast<double>(
        cost.method == Selection::exact ? entries : std::min(entries, most_samples));
    return from_seconds(to_seconds(cost.per_comparison) * sorted * elementary::log2(sorted));
}

LayoutPtr as_one_tensor(const Layout& layout) {
    return std::make_shared<const Layout>(
        std::vector<Tensor>{{"everything", {layout.entries(), 1}}});
}

double dropping_threshold(const DgcOptions& codec, std::span<const double> residual,
                          TopKScratch& scratch) {
    const auto n = static_cast<std::int64_t>(residual.size());
    const std::int64_t samples =
        codec.selection.method == Selection::exact ? n : std::min(n, most_samples);
    // Marian counts the dropped entries, R samples of them, and rounds down. The tolerance keeps an
    // integer count from falling below itself when 1 - density is rounded.
    const auto dropped = static_cast<std::int64_t>(
        std::floor((1 - codec.density) * static_cast<double>(samples) * (1 + 1e-12)));
    return sampled_magnitude(residual, n / samples, samples, std::max<std::int64_t>(0, dropped - 1),
                             scratch);
}

SparseVector drop(const DgcOptions& codec, const LayoutPtr& layout, Eigen::VectorXd& residual,
                  TopKScratch& scratch) {
    const std::span<const double> all(residual.data(), static_cast<std::size_t>(residual.size()));
    SparseVector sent{layout, {}, {}};
    if (all.empty()) return sent;
    if (!all_finite(all)) return {layout, {0}, {std::numeric_limits<double>::quiet_NaN()}};
    const double threshold = dropping_threshold(codec, all, scratch);
    const bool finite = select_beyond(all, threshold, scratch);
    PACELINE_CHECK(finite, "a finite residual is selected from");
    for (const std::int64_t i : scratch.selected()) {
        sent.positions.push_back(i);
        sent.values.push_back(residual(i));
        residual(i) = 0;
    }
    return sent;
}

namespace {

// State that a worker keeps between steps.
struct DroppingMemory {
    Eigen::VectorXd residual;
    TopKScratch scratch;
};

// Returns the mean over the workers of the entries that they do not drop.
Task<Vector> exchange_dropped(Worker& self, const GradientDroppingOptions& options, Vector g,
                              StageExchange stage, DroppingMemory& memory) {
    const DgcOptions& codec = options.codec;
    const AggregationPlan& aggregation = options.aggregation;
    const LayoutPtr charged = as_one_tensor(*self.charged_layout());
    const Duration search = dropping_time(codec.selection, charged->entries());
    if (!g.has_values()) {
        co_await self.compute(search);
        co_await exchange_sparse(self, codec, aggregation, charged, stage, self.everybody());
        co_return g;
    }
    SparseVector sent;
    co_await self.compute(search, [&] {
        memory.residual += g.values();
        sent = drop(codec, as_one_tensor(*g.layout()), memory.residual, memory.scratch);
    });
    if (codec.format.half) cast_to_half(sent.values);
    SparsePacking packing{codec.format, self.stands_in() ? charged : nullptr, false, codec.density};
    if (aggregation.kind == Aggregation::all_gather) packing.gather = aggregation.all_gather;
    if (stage.dense) packing.dense = aggregation.all_reduce;
    co_return co_await self.sparse_all_reduce(std::move(sent), packing);
}

}  // namespace

Task<> gradient_dropping(Worker& self, GradientDroppingOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    const double density = options.codec.density;
    const StageExchange stage =
        stage_exchange(options.codec, options.aggregation,
                       std::make_shared<SparseSizes>(as_one_tensor(*self.charged_layout()),
                                                     rule_at(options.codec, density)),
                       density, self.workers());
    DroppingMemory memory;
    if (!self.timing_only()) memory.residual = Eigen::VectorXd::Zero(x.entries());

    while (self.begins_step()) {
        Vector g = co_await self.gradient(x);
        Vector mean(x.layout());
        if (self.step() < options.dense_steps)
            mean = co_await self.all_reduce(std::move(g), options.aggregation.all_reduce);
        else
            mean = co_await exchange_dropped(self, options, std::move(g), stage, memory);
        self.once(self.step(),
                  [&] { momentum_step(options.rule, self.learning_rate(), mean, m, x); });
        co_await self.update();
    }
}

}  // namespace paceline
