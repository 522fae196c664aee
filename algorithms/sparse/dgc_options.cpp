#include "algorithms/sparse/dgc_options.hpp"

#include <cstddef>

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

}  // namespace paceline
