// 0/1 Adam (Lu et al., arXiv 2202.06009; released code: DeepSpeed, runtime/fp16/onebit/zoadam.py).
// Steps s = 1, 2, ...; I = J = 1, L = 0 and u_i = 0 at first.
//
//   s <= F + 1   s mod I = 0: g = mean, v <- b2 v + (1 - b2) g^2, and I doubles after so many of
//                these otherwise: g = compressed mean of the g_i m <- b1 m + (1 - b1) g;  x <- x -
//                gamma (m / (sqrt(v) + eps) + lambda x)
//   then         errors begin again;  m_i <- b1 m_i + (1 - b1) g_i;  L <- L + gamma
//                d = m_i / (sqrt(v) + eps) + lambda x_i;  x_i <- x_i - gamma d;  u_i <- u_i - gamma
//                                                         d
//                s mod J = 0:  x_i <- x_i - u_i;  u = compressed mean of (sqrt(v) + eps) u_i
//                              m_i <- -u / L;  x_i <- x_i + u / (sqrt(v) + eps);  u_i, L <- 0
//                J doubles after every local_step_scaler steps, up to local_step_clipper
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/adaptive/one_bit.hpp"

namespace paceline::papers {

namespace {

constexpr double b1 = 0.8, b2 = 0.95, epsilon = 1e-5;

struct ZeroOne {
    const Setting& s;
    const Json& options;
    Models x = s.starts(), m = Models::Zero(entries, s.nodes), u = m, g = m;
    Column v = Column::Zero(entries);
    OneBitCalls compressed_mean{s.nodes, options.value("fused", false)};
    std::int64_t variance_interval = 1, refreshes = 0, local_interval = 1, local_steps = 0;
    double passed = 0;

    [[nodiscard]] Column root() const { return (v.array().sqrt() + epsilon).matrix(); }
    void move(double gamma) {
        for (int i = 0; i < s.nodes; ++i) {
            const Column d = m.col(i).cwiseQuotient(root()) + s.lambda * x.col(i);
            x.col(i) -= gamma * d;
            u.col(i) -= gamma * d;
        }
    }
    void variance_step(std::int64_t step, double gamma) {
        Column mean = g.rowwise().mean();
        if (step % variance_interval == 0) {
            v = b2 * v + (1 - b2) * mean.cwiseAbs2();
            if (++refreshes % options.at("var_update_scaler").get<int>() == 0)
                variance_interval *= 2;
        } else {
            mean = compressed_mean(g);
        }
        m = b1 * m + (1 - b1) * mean.replicate(1, s.nodes);
        move(gamma);
        u.setZero();
    }
    void local_step(std::int64_t step, double gamma) {
        m = b1 * m + (1 - b1) * g;
        passed += gamma;
        move(gamma);
        if (step % local_interval == 0) {
            x -= u;
            const Column sum = compressed_mean((u.array().colwise() * root().array()).matrix());
            m = (-sum / passed).replicate(1, s.nodes);
            x += sum.cwiseQuotient(root()).replicate(1, s.nodes);
            u.setZero();
            passed = 0;
        }
        if (++local_steps % options.at("local_step_scaler").get<int>() == 0)
            local_interval =
                std::min<std::int64_t>(2 * local_interval, options.at("local_step_clipper"));
    }
};

History zero_one_adam(const Case& run) {
    const Setting& s = run.setting;
    const std::int64_t freeze = run.algorithm->at("var_freeze_step");
    Trace trace{s};
    ZeroOne state{s, *run.algorithm};
    for (std::int64_t k = 0; k < s.steps; ++k) {
        for (int i = 0; i < s.nodes; ++i) state.g.col(i) = s.gradient(state.x.col(i), i, k);
        if (k == freeze + 1) state.compressed_mean.forget();
        if (k <= freeze)
            state.variance_step(k + 1, s.gamma(k));
        else
            state.local_step(k + 1, s.gamma(k));
        trace.note(k, state.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json each = {{"kind", "zero-one-adam"},
                       {"beta1", b1},
                       {"beta2", b2},
                       {"epsilon", epsilon},
                       {"var_freeze_step", 19},
                       {"var_update_scaler", 3},
                       {"local_step_scaler", 8},
                       {"local_step_clipper", 4}};
    Json fused = each;
    fused["fused"] = true;
    return {{"a call for each tensor", each, {}, &zero_one_adam},
            {"one call for the model", fused, {.nodes = 4}, &zero_one_adam}};
}

constexpr auto papers = std::to_array<Paper>({
    {"zero-one-adam", "the code: intervals double, m is rebuilt with the decay in it",
     "no initializing call; the paper's intervals are an exponential", &cases},
});

}  // namespace

std::span<const Paper> zero_one_adam_papers() {
    return papers;
}

}  // namespace paceline::papers
