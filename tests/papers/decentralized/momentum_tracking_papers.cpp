// Momentum tracking (Takezawa, Bao, Niwa, Sato, Yamada, 2022; released code:
// yukiTakezawa/MomentumTracking, momentum_tracking_optimizer.py):
//
//   M <- beta M + G;   X <- W X - gamma (M - C);   C <- W (C - M) + M
//   at first  M = C = (G - mean of G) / (1 - beta)
//
// A node that returns begins with M = C = 0.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

namespace {

History momentum_tracking(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Models x = s.starts(), m = Models::Zero(entries, s.nodes), c = m;
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        forget_returned(s, k, m);
        forget_returned(s, k, c);
        const Models g = gradients(s, x, k);
        if (k == 0) m = c = (g.colwise() - g.rowwise().mean()) / (1 - s.beta);
        m = s.beta * m + g;
        x = mixed(s, k, x, after_gradient) - s.gamma(k) * (m - c);
        c = mixed(s, k, c - m, after_gradient) + m;
        trace.note(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    return on_graphs("momentum-tracking", &momentum_tracking);
}

constexpr auto papers = std::to_array<Paper>({
    {"momentum-tracking", "heavy ball; the first gradients are averaged exactly, as in the code",
     "none", &cases},
});

}  // namespace

std::span<const Paper> momentum_tracking_papers() {
    return papers;
}

}  // namespace paceline::papers
