// 1-bit Adam (Tang et al., arXiv 2102.02888; released code: DeepSpeed,
// runtime/fp16/onebit/adam.py):
//
//   first F steps   Adam on the mean gradient, without bias correction
//   afterwards      m_i = b1 m + (1 - b1) g_i;  m <- compressed mean of the m_i;  v stays
//   both            x <- x - gamma (m / (sqrt(v) + epsilon) + lambda x)
//
// m is masked to 0 where v is exactly 0.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/adaptive/one_bit.hpp"

namespace paceline::papers {

namespace {

History one_bit_adam(const Case& run) {
    constexpr double b1 = 0.8, b2 = 0.95, epsilon = 1e-5;
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start(), m = Column::Zero(entries), v = m;
    OneBitCalls compressed_mean(s.nodes, run.algorithm->value("fused", false));
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Models g(entries, s.nodes);
        for (int i = 0; i < s.nodes; ++i) g.col(i) = s.gradient(x, i, k);
        if (k < run.algorithm->at("freeze_step").get<int>()) {
            const Column mean = g.rowwise().mean();
            m = b1 * m + (1 - b1) * mean;
            v = b2 * v + (1 - b2) * mean.cwiseAbs2();
        } else {
            m = compressed_mean((b1 * m).replicate(1, s.nodes) + (1 - b1) * g);
            m = (v.array() == 0).select(0, m);
        }
        x -= s.gamma(k) * (m.cwiseQuotient((v.array().sqrt() + epsilon).matrix()) + s.lambda * x);
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json each = {{"kind", "one-bit-adam"},
                       {"beta1", 0.8},
                       {"beta2", 0.95},
                       {"epsilon", 1e-5},
                       {"freeze_step", 12}};
    Json fused = each;
    fused["fused"] = true;
    return {{"a call for each tensor", each, {}, &one_bit_adam},
            {"one call for the model", fused, {.nodes = 4}, &one_bit_adam},
            {"a matrix without a gradient", each, {.part_without_gradient = 2}, &one_bit_adam}};
}

constexpr auto papers = std::to_array<Paper>({
    {"one-bit-adam", "the code: no bias correction, compression per tensor (or `fused`)",
     "no initializing call that loses a gradient; masks are found by v = 0", &cases},
});

}  // namespace

std::span<const Paper> one_bit_adam_papers() {
    return papers;
}

}  // namespace paceline::papers
