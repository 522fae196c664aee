#include "algorithms/optimizers/adam.hpp"

#include "sim/numeric/elementary.hpp"

namespace paceline {

void adam_momentum(const AdamRule& rule, const Vector& g, Vector& m) {
    if (!g.has_values()) return;
    Eigen::VectorXd& all = m.writable();
    all = rule.beta1 * all + (1 - rule.beta1) * g.values();
}

void adam_variance(const AdamRule& rule, const Vector& g, Vector& v) {
    if (!g.has_values()) return;
    Eigen::VectorXd& all = v.writable();
    all = rule.beta2 * all + (1 - rule.beta2) * g.values().cwiseAbs2();
}

Vector adam_direction(const AdamRule& rule, const Vector& m, const Vector& v, const Vector& x) {
    if (!x.has_values()) return x;
    const auto preconditioned = m.values().array() / (v.values().array().sqrt() + rule.epsilon);
    return {x.layout(), preconditioned + rule.weight_decay * x.values().array()};
}

Vector masked(Vector m, const Vector& v) {
    if (!m.has_values()) return m;
    Eigen::VectorXd& all = m.writable();
    all = (v.values().array() == 0).select(0.0, all);
    return m;
}

void adam_step(const AdamRule& rule, double gamma, std::int64_t step, const Vector& g, Vector& m,
               Vector& v, Vector& x) {
    if (!g.has_values()) return;
    adam_momentum(rule, g, m);
    adam_variance(rule, g, v);
    if (!rule.bias_correction) {
        x -= gamma * adam_direction(rule, m, v, x);
        return;
    }
    const auto k = static_cast<double>(step);
    x -= gamma * adam_direction(rule, m / (1 - elementary::pow(rule.beta1, k)),
                                v / (1 - elementary::pow(rule.beta2, k)), x);
}

}  // namespace paceline
