// Decentralized methods that remove a bias:
//
//   DecentLaM  G~ = (X - W (X - gamma G)) / gamma;  M <- beta M + G~;  X <- X - gamma M
//              Yuan et al., ICCV 2021; released code: yukiTakezawa/MomentumTracking
//   D2         M <- beta M + G;  X' = W (2 X - X_old - gamma M + gamma_old M_old),
//              at first X' = W (X - gamma M)
//              Tang et al., ICML 2018, with momentum as in EDM, arXiv 2501.19082
//   tracking   Y = G at first;  X <- W (X - gamma Y);  Y <- W Y + G_new - G
//              Qu, Li, IEEE Trans. Control of Network Systems 5, 2018, in its adapt-then-combine
//              form
//
// A node that returns begins again.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

namespace {

History decentlam(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Models x = s.starts(), m = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        forget_returned(s, k, m);
        const double gamma = s.gamma(k);
        const Models g = gradients(s, x, k);
        const Models tilde = (x - mixed(s, k, x - gamma * g, after_gradient)) / gamma;
        m = s.beta * m + tilde;
        x -= gamma * m;
        trace.note(k, x);
    }
    return trace.done();
}

History d2(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Models x = s.starts(), m = Models::Zero(entries, s.nodes);
    Models old_x = x, old_change = m;  // change: gamma M, 0 before the first step
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        forget_returned(s, k, m);
        forget_returned(s, k, old_change);
        for (int i = 0; i < s.nodes; ++i)
            if (s.returns(i, k)) old_x.col(i) = x.col(i);
        m = s.beta * m + gradients(s, x, k);
        const Models change = s.gamma(k) * m;
        const Models next = mixed(s, k, 2 * x - old_x - change + old_change, after_gradient);
        old_x = x;
        old_change = change;
        x = next;
        trace.note(k, x);
    }
    return trace.done();
}

History tracking(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Models x = s.starts(), y = Models::Zero(entries, s.nodes), old_g = y;
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        forget_returned(s, k, y);
        forget_returned(s, k, old_g);
        const Models g = gradients(s, x, k);
        y += g - old_g;
        old_g = g;
        x = mixed(s, k, x - s.gamma(k) * y, after_gradient);
        y = mixed(s, k, y, after_gradient);
        trace.note(k, x);
    }
    return trace.done();
}

std::vector<Case> of_decentlam() {
    return on_graphs("decentlam", &decentlam);
}
std::vector<Case> of_d2() {
    return on_graphs("d2-dmsgd", &d2);
}
std::vector<Case> of_tracking() {
    return on_graphs("gradient-tracking", &tracking);
}

constexpr auto papers = std::to_array<Paper>({
    {"decentlam", "the form with m, so that gamma may change",
     "none known: the paper's text was not available", &of_decentlam},
    {"d2-dmsgd", "gamma_k M_k - gamma_(k-1) M_(k-1) where gamma changes", "none", &of_d2},
    {"gradient-tracking", "adapt then combine, X <- W (X - gamma Y)",
     "the paper's X <- W X - gamma Y; the form is that of bluefog-tutorial", &of_tracking},
});

}  // namespace

std::span<const Paper> bias_corrected_papers() {
    return papers;
}

}  // namespace paceline::papers
