// QG-DAdam (Lin et al., ICML 2021), after epfml/quasi-global-momentum @d1d2f75, optimizers
// decentralized_qg_adam_v1 ("both") and _v2 ("second"):
//
//   a = b1 p + (1 - b1) g;  u = b2 q + (1 - b2) g^2;  step t = 1, 2, ... of the node
//   x' = W (x - gamma / (1 - b1^t) a / (sqrt(u) / sqrt(1 - b2^t) + epsilon))
//   d = (x - x') / (|x - x'| + 1e-8);  q <- b2 q + (1 - b2) d^2
//   v1: p <- b1 p + (1 - b1) d;        v2: p <- a
//
// A node that returns has lost p and q, and counts its steps from 1.
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

namespace {

constexpr double b1 = 0.8, b2 = 0.95, epsilon = 1e-5;

History qg_dadam(const Case& run) {
    const Setting& s = run.setting;
    const bool v1 = run.algorithm->value("moments", "both") == "both";
    Trace trace{s};
    Models x = s.starts(), p = Models::Zero(entries, s.nodes), q = p;
    std::vector<double> taken(static_cast<std::size_t>(s.nodes));
    for (std::int64_t k = 0; k < s.steps; ++k) {
        take_returned(trace, k, x);
        forget_returned(s, k, p);
        forget_returned(s, k, q);
        const Models g = gradients(s, x, k);
        Models h = x;
        for (int i = 0; i < s.nodes; ++i) {
            double& t = taken[static_cast<std::size_t>(i)];
            if (s.returns(i, k)) t = 0;
            ++t;
            const Column a = b1 * p.col(i) + (1 - b1) * g.col(i);
            const Column u = b2 * q.col(i) + (1 - b2) * g.col(i).cwiseAbs2();
            const double root = std::sqrt(1 - std::pow(b2, t));
            h.col(i) -= s.gamma(k) / (1 - std::pow(b1, t)) *
                        (a.array() / (u.array().sqrt() / root + epsilon)).matrix();
            if (!v1) p.col(i) = a;
        }
        const Models next = mixed(s, k, h, after_gradient);
        for (int i = 0; i < s.nodes; ++i) {
            const Column moved = x.col(i) - next.col(i);
            const Column d = moved / (moved.norm() + 1e-8);
            if (v1) p.col(i) = b1 * p.col(i) + (1 - b1) * d;
            q.col(i) = b2 * q.col(i) + (1 - b2) * d.cwiseAbs2();
        }
        x = next;
        trace.note(k, x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const char* moments : {"both", "second"})
        for (const Case& run : on_graphs("qg-dadam", &qg_dadam)) {
            all.push_back(changed(
                run, {{"beta1", b1}, {"beta2", b2}, {"epsilon", epsilon}, {"moments", moments}}));
            all.back().name += std::string(", ") + moments;
        }
    return all;
}

constexpr auto papers = std::to_array<Paper>({
    {"qg-dadam", "both moments follow the step that was taken, or the second alone, as is run",
     "the paper's text was not available", &cases},
});

}  // namespace

std::span<const Paper> qg_dadam_papers() {
    return papers;
}

}  // namespace paceline::papers
