#include "algorithms/runtime/steps.hpp"

#include <numeric>

#include "sim/engine/check.hpp"

namespace paceline {

bool Steps::takes(std::int64_t k, int rank) {
    if (!gradients_left()) {
        over_ = true;
        return false;
    }
    if (k < begun_) return true;
    if (over_) return false;
    PACELINE_CHECK(k == begun_, "steps are taken one after the other");
    over_ = !job_.takes_step(k);
    if (over_) return false;
    ++begun_;
    newest_beginner_ = rank;
    return true;
}

void Steps::go_back(const Checkpoint& to) {
    begun_ = to.step;
    over_ = false;
    gradients_begun_ = std::accumulate(to.gradients.begin(), to.gradients.end(), std::int64_t{0});
}

}  // namespace paceline
