#include "algorithms/coders/dgc_options.hpp"

#include <cstddef>
#include <vector>

namespace paceline {

std::size_t stage_at(const DgcOptions& options, std::int64_t step, double epoch) {
    const WarmUp& warm_up = options.warm_up;
    double stage = epoch / warm_up.epochs_each;
    if (warm_up.steps_each > 0) {
        const std::int64_t passed = step / warm_up.steps_each;
        stage = static_cast<double>(passed);
    }
    const std::size_t stages = warm_up.densities.size();
    return stage >= static_cast<double>(stages) ? stages : static_cast<std::size_t>(stage);
}

double density_at(const DgcOptions& options, std::int64_t step, double epoch) {
    const std::size_t stage = stage_at(options, step, epoch);
    const std::vector<double>& densities = options.warm_up.densities;
    return stage < densities.size() ? densities[stage] : options.density;
}

}  // namespace paceline
