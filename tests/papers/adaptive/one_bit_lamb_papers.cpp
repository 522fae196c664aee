// 1-bit LAMB (Li et al., arXiv 2104.06069; released code: DeepSpeed, runtime/fp16/onebit/lamb.py).
// Per tensor l, c_l = 0 and f_l = 1 at first:
//
//   first F steps   LAMB without correction, t = |x|/|r| clipped; c <- cb c + (1 - cb) t if t is
//                   not 1
//   then once       u <- v;  k_l = mean of rms(m) / rms(m_l)
//   afterwards      m' = compressed mean of k (b1 m + (1 - b1) g_i), in one call, / k
//                   g = (m' - b1 m) / (1 - b1);  u <- b2 u + (1 - b2) g^2;  m <- m'
//                   D = sqrt(v) + eps;  r0 = m / D;  r = r0 + lambda x
//                   f = max of D / (sqrt(u) + eps);  q = min(1, |r0| / |r|);  f <- f q + (1 - q)
//                   f clipped to [factor_min, factor_max] and to its last value (1 -+ threshold)
//                   x <- x - gamma c f r
#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "tests/papers/adaptive/one_bit.hpp"

namespace paceline::papers {

namespace {

constexpr double b1 = 0.8, b2 = 0.95, epsilon = 1e-5, cb = 0.7;

struct Lamb {
    const Setting& s;
    const Json& options;
    Column x = s.start(), m = Column::Zero(entries), v = m, u = m;
    std::vector<double> c = std::vector<double>(4), f = std::vector<double>(4, 1), scale = f;
    OneBitCalls compressed_mean{s.nodes, true};

    auto at(Column& all, std::size_t l) { return all.segment(parts()[l].begin, parts()[l].size()); }
    void warm_step(const Column& g, double gamma) {
        m = b1 * m + (1 - b1) * g;
        v = b2 * v + (1 - b2) * g.cwiseAbs2();
        for (std::size_t l = 0; l < parts().size(); ++l) {
            const Column r = at(m, l).cwiseQuotient((at(v, l).array().sqrt() + epsilon).matrix()) +
                             s.lambda * at(x, l);
            double t = 1;
            if (at(x, l).norm() > 0 && r.norm() > 0)
                t = std::clamp(at(x, l).norm() / r.norm(), options.at("min_trust").get<double>(),
                               options.at("max_trust").get<double>());
            if (t != 1) c[l] = cb * c[l] + (1 - cb) * t;
            at(x, l) -= gamma * t * r;
        }
    }
    void freeze() {
        u = v;
        double sum = 0;
        for (std::size_t l = 0; l < 4; ++l) {
            scale[l] = at(m, l).norm() / std::sqrt(static_cast<double>(at(m, l).size()));
            sum += scale[l];
        }
        for (double& k : scale) k = sum / 4 / k;
    }
    void compressed_step(const Models& g, double gamma) {
        Models own = (b1 * m).replicate(1, s.nodes) + (1 - b1) * g;
        for (std::size_t l = 0; l < 4; ++l)
            own.middleRows(parts()[l].begin, parts()[l].size()) *= scale[l];
        Column next = compressed_mean(own);
        for (std::size_t l = 0; l < 4; ++l) at(next, l) /= scale[l];
        next = (v.array() == 0).select(0, next);
        u = b2 * u + (1 - b2) * ((next - b1 * m) / (1 - b1)).cwiseAbs2();
        m = next;
        for (std::size_t l = 0; l < 4; ++l) move(l, gamma);
    }
    void move(std::size_t l, double gamma) {
        const Column d = (at(v, l).array().sqrt() + epsilon).matrix();
        const Column r0 = at(m, l).cwiseQuotient(d);
        const Column r = r0 + s.lambda * at(x, l);
        double factor = d.cwiseQuotient((at(u, l).array().sqrt() + epsilon).matrix()).maxCoeff();
        if (s.lambda > 0) {
            const double q = std::min(1.0, r0.norm() / r.norm());
            factor = factor * q + (1 - q);
        }
        factor = std::clamp(factor, 0.5, 4.0);
        f[l] = std::clamp(factor, f[l] * 0.9, f[l] * 1.1);
        at(x, l) -= gamma * c[l] * f[l] * r;
    }
};

History one_bit_lamb(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Lamb lamb{s, *run.algorithm};
    const int freeze_step = run.algorithm->at("freeze_step");
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Models g(entries, s.nodes);
        for (int i = 0; i < s.nodes; ++i) g.col(i) = s.gradient(lamb.x, i, k);
        if (k == freeze_step) lamb.freeze();
        if (k < freeze_step)
            lamb.warm_step(g.rowwise().mean(), s.gamma(k));
        else
            lamb.compressed_step(g, s.gamma(k));
        trace.note_same(k, lamb.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json algorithm = {{"kind", "one-bit-lamb"}, {"beta1", b1},      {"beta2", b2},
                            {"epsilon", epsilon},     {"coeff_beta", cb}, {"freeze_step", 15},
                            {"min_trust", 0.3},       {"max_trust", 1.4}};
    return {{"five nodes", algorithm, {}, &one_bit_lamb},
            {"four nodes without decay", algorithm, {.nodes = 4, .lambda = 0}, &one_bit_lamb}};
}

constexpr auto papers = std::to_array<Paper>({
    {"one-bit-lamb", "the code's rule and factors",
     "no initializing call; masks are found by v = 0; a tensor whose momentum is 0 is not scaled",
     &cases},
});

}  // namespace

std::span<const Paper> one_bit_lamb_papers() {
    return papers;
}

}  // namespace paceline::papers
