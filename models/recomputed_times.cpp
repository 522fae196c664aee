#include "models/recomputed_times.hpp"

#include <cstddef>
#include <vector>

#include "sim/engine/check.hpp"

namespace paceline {

RecomputedTimes recomputed_times(const Profile& profile, Recompute recompute) {
    constexpr double seconds_of_forward = 1000;  // of the pass as a whole, in fine steps
    const double all = profile.macs();
    PACELINE_CHECK(all > 0, "a net that is timed by its work has some");
    const std::vector<double> macs = profile.tensor_macs();
    const std::vector<double> again = profile.recomputed_tensor_macs(recompute);
    RecomputedTimes result;
    double recomputed = 0;
    for (std::size_t i = 0; i < macs.size(); ++i) {
        const double unit = seconds_of_forward / all;
        result.times.forward.push_back(from_seconds(unit * macs[i]));
        result.times.backward.push_back(from_seconds(unit * (2 * macs[i] + again[i])));
        recomputed += again[i];
    }
    result.factor = 1 + recomputed / (3 * all);
    return result;
}

}  // namespace paceline
