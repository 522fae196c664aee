#include "algorithms/gradient_dropping.hpp"

#include <algorithm>
#include <cmath>

#include "sim/engine/check.hpp"

namespace paceline {

Duration dropping_time(const SelectionCost& cost, std::int64_t entries) {
    constexpr std::int64_t most_samples = 100'000;
    if (cost.method == Selection::free || entries < 2) return {};
    const auto sorted = static_cast<double>(
        cost.method == Selection::exact ? entries : std::min(entries, most_samples));
    return from_seconds(to_seconds(cost.per_comparison) * sorted * std::log2(sorted));
}

DgcOptions exchange_of(const GradientDroppingOptions& options) {
    DgcOptions exchange;
    exchange.density = options.density;
    exchange.law = options.law;
    exchange.format = options.format;
    exchange.exchange = options.exchange;
    exchange.all_reduce = options.all_reduce;
    return exchange;
}

LayoutPtr as_one_tensor(const Layout& layout) {
    return std::make_shared<const Layout>(
        std::vector<Tensor>{{"everything", {layout.entries(), 1}}});
}

Task<> gradient_dropping(Worker& self, GradientDroppingOptions options) {
    PACELINE_CHECK(self.timing_only(), "gradient dropping runs without values so far");
    const Vector& x = self.replicated_model();
    const DgcOptions exchange = exchange_of(options);
    const LayoutPtr everything = as_one_tensor(*x.layout());

    while (self.keeps_training()) {
        const Vector g = co_await self.gradient(x);
        if (self.step() < options.dense_steps) {
            co_await self.all_reduce(g, options.all_reduce);
        } else {
            co_await self.compute(dropping_time(options.selection, x.entries()));
            co_await exchange_sparse(self, exchange, everything, options.density);
        }
        co_await self.update();
    }
}

}  // namespace paceline
