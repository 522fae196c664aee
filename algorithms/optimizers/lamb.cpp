#include "algorithms/optimizers/lamb.hpp"

#include <algorithm>
#include <cstddef>

#include "models/tensors/algebra.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

Vector lamb_direction(const AdamRule& rule, std::int64_t step, const Vector& m, const Vector& v,
                      const Vector& x) {
    if (!rule.bias_correction) return adam_direction(rule, m, v, x);
    const auto k = static_cast<double>(step);
    return adam_direction(rule, m / (1 - elementary::pow(rule.beta1, k)),
                          v / (1 - elementary::pow(rule.beta2, k)), x);
}

double trust_ratio(const LambRule& rule, double x_norm, double r_norm) {
    if (x_norm == 0 || r_norm == 0) return 1;
    return std::clamp(x_norm / r_norm, rule.min_trust, rule.max_trust);
}

}  // namespace

Eigen::VectorXd lamb_step(const LambRule& rule, double gamma, std::int64_t step, const Vector& g,
                          Vector& m, Vector& v, Vector& x) {
    if (!g.has_values()) return {};
    adam_momentum(rule.adam, g, m);
    adam_variance(rule.adam, g, v);
    const Vector r = lamb_direction(rule.adam, step, m, v, x);
    const Layout& layout = *x.layout();
    const std::size_t tensors = layout.tensors().size();
    Eigen::VectorXd trust(static_cast<Eigen::Index>(tensors));
    Eigen::VectorXd& model = x.writable();
    for (std::size_t l = 0; l < tensors; ++l) {
        auto x_l = model.segment(layout.offset(l), layout.tensors()[l].entries());
        const auto r_l = r.values().segment(layout.offset(l), x_l.size());
        const double t = trust_ratio(rule, norm(x_l), norm(r_l));
        x_l -= gamma * t * r_l;
        trust(static_cast<Eigen::Index>(l)) = t;
    }
    return trust;
}

}  // namespace paceline
