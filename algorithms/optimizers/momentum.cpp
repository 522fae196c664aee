#include "algorithms/optimizers/momentum.hpp"

#include <algorithm>
#include <utility>

#include "models/tensors/algebra.hpp"

namespace paceline {

void clip_norm(Vector& g, double clip) {
    if (clip <= 0 || !g.has_values()) return;
    const double length = norm(g.values());
    if (length > clip) g *= clip / length;
}

void momentum_step(const MomentumRule& rule, double gamma, Vector g, Vector& m, Vector& x) {
    if (!x.has_values()) return;
    clip_norm(g, rule.clip);
    Eigen::VectorXd& velocities = m.writable();
    Eigen::VectorXd& parameters = x.writable();
    if (rule.weight_decay > 0) g.writable() += rule.weight_decay * parameters;
    // Work block by block, so that a velocity is still in the cache when it moves its parameter.
    constexpr Eigen::Index block = 2048;
    for (Eigen::Index begin = 0; begin < parameters.size(); begin += block) {
        const Eigen::Index size = std::min(block, parameters.size() - begin);
        const auto gradient = g.values().segment(begin, size);
        auto velocity = velocities.segment(begin, size);
        velocity = rule.momentum * velocity + gradient;
        if (rule.nesterov)
            parameters.segment(begin, size) -= gamma * (gradient + rule.momentum * velocity);
        else
            parameters.segment(begin, size) -= gamma * velocity;
    }
}

}  // namespace paceline
