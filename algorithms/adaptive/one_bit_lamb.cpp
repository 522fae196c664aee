#include "algorithms/adaptive/one_bit_lamb.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"
#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// State that is equal on all workers. c, f and k have one number per tensor.
struct LambReplicas {
    Vector& x;
    Vector& m;
    Vector& v;
    Vector& fresh;
    Vector& c;
    Vector& f;
    Vector& k;
};

LambReplicas replicas_of(Worker& self) {
    Vector& x = self.replicated_model();
    const auto tensors = static_cast<std::int64_t>(x.layout()->tensors().size());
    const auto layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"per tensor", {tensors}}});
    const auto all = [&](double value) {
        if (!x.has_values()) return Vector(layout);
        return Vector(layout, Eigen::VectorXd::Constant(tensors, value));
    };
    return {x,
            self.replicated("momentum"),
            self.replicated("variance"),
            self.replicated("fresh variance"),
            self.replicated("trust coefficients", all(0)),
            self.replicated("factors", all(1)),
            self.replicated("momentum scales", all(1))};
}

template <class Use>
void for_each_tensor(const Layout& layout, Use use) {
    for (std::size_t l = 0; l < layout.tensors().size(); ++l)
        use(static_cast<Eigen::Index>(l), layout.offset(l), layout.tensors()[l].entries());
}

Vector scaled_by_tensor(Vector v, const Eigen::VectorXd& factors) {
    Eigen::VectorXd& all = v.writable();
    for_each_tensor(*v.layout(), [&](Eigen::Index l, std::int64_t offset, std::int64_t entries) {
        all.segment(offset, entries) *= factors(l);
    });
    return v;
}

// The same for a piece of the whole vector.
Vector scaled_by_tensor(Vector v, const Piece& piece, const LambReplicas& at) {
    if (!v.has_values()) return v;
    const std::int64_t first = piece.offset;
    const std::int64_t last = first + v.entries();
    Eigen::VectorXd& all = v.writable();
    for_each_tensor(*at.x.layout(), [&](Eigen::Index l, std::int64_t offset, std::int64_t entries) {
        const std::int64_t begin = std::max(first, offset);
        const std::int64_t end = std::min(last, offset + entries);
        if (begin < end) all.segment(begin - first, end - begin) *= at.k.values()(l);
    });
    return v;
}

void warm_up_step(const OneBitLambOptions& options, double gamma, const Vector& g,
                  LambReplicas& at) {
    const Eigen::VectorXd trust = lamb_step(options.rule, gamma, /*step=*/1, g, at.m, at.v, at.x);
    if (trust.size() == 0) return;
    Eigen::VectorXd& c = at.c.writable();
    for (Eigen::Index l = 0; l < trust.size(); ++l)
        if (trust(l) != 1) c(l) = options.coeff_beta * c(l) + (1 - options.coeff_beta) * trust(l);
}

void freeze(LambReplicas& at) {
    if (!at.m.has_values()) return;
    at.fresh = at.v;
    at.k.writable() = momentum_scales(at.m);
}

// Rebuilds the gradient that led from the momentum `before` to the current one, and adds it to the
// fresh variance.
void refresh_variance(const AdamRule& rule, const Vector& before, LambReplicas& at) {
    const Vector g = (at.m - rule.beta1 * before) / (1 - rule.beta1);
    adam_variance(rule, g, at.fresh);
}

void descend(const OneBitLambOptions& options, double gamma, LambReplicas& at) {
    const AdamRule& rule = options.rule.adam;
    const Eigen::ArrayXd d = at.v.values().array().sqrt() + rule.epsilon;
    const Eigen::VectorXd r0 = at.m.values().array() / d;
    const Eigen::VectorXd r = r0 + rule.weight_decay * at.x.values();
    const Eigen::ArrayXd ratio = d / (at.fresh.values().array().sqrt() + rule.epsilon);
    Eigen::VectorXd& x = at.x.writable();
    Eigen::VectorXd& f = at.f.writable();
    for_each_tensor(*at.x.layout(), [&](Eigen::Index l, std::int64_t offset, std::int64_t entries) {
        const auto r_l = r.segment(offset, entries);
        const double length = norm(r_l);
        double q = 1;
        if (rule.weight_decay > 0 && length > 0)
            q = std::min(1.0, norm(r0.segment(offset, entries)) / length);
        const double largest = ratio.segment(offset, entries).maxCoeff();
        f(l) = clipped_factor(options, largest, q, f(l));
        x.segment(offset, entries) -= gamma * at.c.values()(l) * f(l) * r_l;
    });
}

void compressed_step(const OneBitLambOptions& options, double gamma, Vector mean,
                     LambReplicas& at) {
    if (!mean.has_values()) return;
    const Vector before = at.m;
    at.m = scaled_by_tensor(std::move(mean), at.k.values().cwiseInverse());
    if (options.mask) at.m = masked(std::move(at.m), at.v);
    refresh_variance(options.rule.adam, before, at);
    descend(options, gamma, at);
}

}  // namespace

Eigen::VectorXd momentum_scales(const Vector& m) {
    const Layout& layout = *m.layout();
    Eigen::VectorXd rms(static_cast<Eigen::Index>(layout.tensors().size()));
    for_each_tensor(layout, [&](Eigen::Index l, std::int64_t offset, std::int64_t entries) {
        rms(l) =
            norm(m.values().segment(offset, entries)) / std::sqrt(static_cast<double>(entries));
    });
    const auto nonzero = static_cast<double>((rms.array() > 0).count());
    const double mean = sum(rms) / std::max(nonzero, 1.0);
    return (rms.array() > 0).select(mean / rms.array(), 1.0);
}

double clipped_factor(const OneBitLambOptions& options, double factor, double q, double last) {
    const double mixed = factor * q + (1 - q);
    const double bounded = std::clamp(mixed, options.factor_min, options.factor_max);
    const double thr = options.factor_threshold;
    return std::clamp(bounded, last * (1 - thr), last * (1 + thr));
}

Task<> one_bit_lamb(Worker& self, OneBitLambOptions options) {
    PACELINE_CHECK(!options.rule.adam.bias_correction, "the 1-bit methods have no bias correction");
    PACELINE_CHECK(options.freeze_step > 0, "coefficients are learned in the warm-up");
    const double beta1 = options.rule.adam.beta1;
    LambReplicas at = replicas_of(self);
    const auto momentum = [&](const Piece& piece, const Vector& g) {
        return scaled_by_tensor(beta1 * part_of(at.m, piece) + (1 - beta1) * g, piece, at);
    };
    const auto warm_up = [&](std::int64_t k, double gamma, const Vector& g) {
        warm_up_step(options, gamma, g, at);
        if (k + 1 == options.freeze_step) freeze(at);
    };
    const auto descend_by = [&](std::int64_t, double gamma, const Vector& mean) {
        compressed_step(options, gamma, mean, at);
    };
    co_await synchronous_stages(self, options.freeze_step, {options.warm_up, warm_up},
                                {options.exchange, descend_by, {momentum}});
}

}  // namespace paceline
