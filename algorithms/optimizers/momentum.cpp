#include "algorithms/optimizers/momentum.hpp"

#include <utility>

#include "models/algebra.hpp"

namespace paceline {

void clip_norm(Vector& g, double clip) {
    if (clip <= 0 || !g.has_values()) return;
    const double length = norm(g.values());
    if (length > clip) g *= clip / length;
}

void momentum_step(const MomentumRule& rule, double gamma, Vector g, Vector& m, Vector& x) {
    if (!x.has_values()) return;
    clip_norm(g, rule.clip);
    Eigen::VectorXd& velocity = m.writable();
    Eigen::VectorXd& parameters = x.writable();
    if (rule.weight_decay > 0) g.writable() += rule.weight_decay * parameters;
    velocity = rule.momentum * velocity + g.values();
    if (rule.nesterov)
        parameters -= gamma * (g.values() + rule.momentum * velocity);
    else
        parameters -= gamma * velocity;
}

}  // namespace paceline
