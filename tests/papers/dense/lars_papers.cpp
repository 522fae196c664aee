// LARS: a step size for each tensor, proportional to its size.
//
//   g     =  mean of all g_i
//   r_l   =  eta |x_l| / (|g_l| + lambda |x_l| + 1e-8);  LARC: min(r_l / gamma, 1)
//   m_l  <-  beta m_l + r_l (g_l + lambda x_l);   x_l <- x_l - gamma m_l
//
// A tensor whose norm or gradient is zero keeps its gradient as it is, without decay (released
// code: NVIDIA Apex, parallel/LARC.py, over torch.optim.SGD). Biases are neither scaled nor
// decayed.
//
// You, Gitman, Ginsburg, arXiv 1708.03888, 2017, Algorithm 1.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

// Scales and decays the gradient of one matrix.
Column scaled(const Setting& s, const Column& x, const Column& g, double gamma, bool larc) {
    constexpr double eta = 0.1;
    if (x.norm() == 0 || g.norm() == 0) return g;
    double r = eta * x.norm() / (g.norm() + s.lambda * x.norm() + 1e-8);
    if (larc) r = std::min(r / gamma, 1.0);
    return r * (g + s.lambda * x);
}

History lars(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start();
    Column m = Column::Zero(entries);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        Column g = Column::Zero(entries);
        for (const int i : s.members(k)) g += s.gradient(x, i, k);
        g /= static_cast<double>(s.members(k).size());
        for (const Part& part : parts())
            if (part.is_matrix)
                g.segment(part.begin, part.size()) = scaled(
                    s, x.segment(part.begin, part.size()), g.segment(part.begin, part.size()),
                    s.gamma(k), run.algorithm->value("larc", false));
        x -= s.gamma(k) * momentum(s, m, g);
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json plain = {{"kind", "pmsgd-lars"}, {"trust", 0.1}};
    const Json larc = {{"kind", "pmsgd-lars"}, {"trust", 0.1}, {"larc", true}};
    const Setting failing{.outages = {{2, 6, 20}, {0, 25, 33}}};
    return {
        {"LARS", plain, {}, &lars},
        {"LARC", larc, {}, &lars},
        {"two nodes die and return", plain, failing, &lars},
        {"a matrix without a gradient", plain, {.part_without_gradient = 2}, &lars},
    };
}

constexpr auto papers = std::to_array<Paper>({
    {"pmsgd-lars", "Apex over PyTorch's SGD: ratios inside the momentum; `larc` clips them",
     "gamma multiplies the momentum (Apex), in the paper it enters it; biases are left out (common "
     "practice)",
     &cases},
});

}  // namespace

std::span<const Paper> lars_papers() {
    return papers;
}

}  // namespace paceline::papers
