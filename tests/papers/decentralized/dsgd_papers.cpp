// Decentralized SGD: X <- W (X - gamma G), adapt then combine (diffusion: Chen, Sayed, IEEE Trans.
// Signal Processing 60, 2012), and X <- W X - gamma G (D-PSGD: Lian et al., NeurIPS 2017).
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"
#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

History dsgd(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Models x = s.starts();
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        const Models g = gradients(s, x, k);
        x = mixed(s, k, x - s.gamma(k) * g, after_gradient);
        trace.note(k, x);
    }
    return trace.done();
}

History dpsgd(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Models x = s.starts();
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        const Models g = gradients(s, x, k);
        x = mixed(s, k, x, before_gradient) - s.gamma(k) * g;
        trace.note(k, x);
    }
    return trace.done();
}

std::vector<Case> adapt_then_combine() {
    return on_graphs("dsgd", &dsgd);
}
std::vector<Case> adapt_with_combine() {
    return on_graphs("dsgd-awc", &dpsgd);
}

constexpr auto papers = std::to_array<Paper>({
    {"dsgd", "X <- W (X - gamma G)", "none", &adapt_then_combine},
    {"dsgd-awc", "X <- W X - gamma G", "none", &adapt_with_combine},
});

}  // namespace

std::span<const Paper> dsgd_papers() {
    return papers;
}

}  // namespace paceline::papers
