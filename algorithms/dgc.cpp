#include "algorithms/dgc.hpp"

#include <map>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

double density_at(const DgcOptions& options, std::int64_t step, double epoch) {
    const WarmUp& warm_up = options.warm_up;
    double stage = epoch / warm_up.epochs_each;
    if (warm_up.steps_each > 0) {
        const std::int64_t passed = step / warm_up.steps_each;
        stage = static_cast<double>(passed);
    }
    if (stage >= static_cast<double>(warm_up.densities.size())) return options.density;
    return warm_up.densities[static_cast<std::size_t>(stage)];
}

Bytes union_bytes(const DgcOptions& options, const Layout& layout, double density,
                  int contributions) {
    const Bytes sparse = sparse_bytes(layout, density, contributions, options.law, options.format);
    if (options.uncompressed == Uncompressed::all_reduced) return sparse;
    return sparse + contributions * uncompressed_bytes(layout, options.format);
}

Task<> exchange_sparse(Worker& self, DgcOptions options, LayoutPtr layout, double density) {
    if (options.exchange == SparseExchange::recursive_doubling) {
        const UnionWeight weight = [&](const Union& merged) {
            return union_bytes(options, *layout, density, merged.count);
        };
        co_await self.sparse_all_reduce(weight);
    } else {
        const auto how = options.exchange == SparseExchange::all_gather_ring ? AllGather::ring
                                                                             : AllGather::bruck;
        co_await self.all_gather(union_bytes(options, *layout, density, 1), how);
    }
    if (options.uncompressed == Uncompressed::gathered) co_return;
    if (layout->incompressible_entries() == 0) co_return;
    const auto rest = std::make_shared<const Layout>(
        std::vector<Tensor>{{"uncompressed", {layout->incompressible_entries()}}});
    co_await self.all_reduce(Vector(rest), options.all_reduce);
}

Task<> dgc(Worker& self, DgcOptions options) {
    PACELINE_CHECK(self.timing_only(), "DGC runs without values so far");
    const Vector& x = self.replicated_model();
    const LayoutPtr layout = x.layout();

    while (self.keeps_training()) {
        const double density = density_at(options, self.step(), self.epoch());
        const Vector g = co_await self.gradient(x);
        co_await self.compute(selection_time(options.selection, *layout, density));
        co_await exchange_sparse(self, options, layout, density);
        co_await self.update();
    }
}

}  // namespace paceline
