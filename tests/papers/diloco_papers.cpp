// DiLoCo (Douillard et al., 2023; released code: OpenDiLoCo): after each block of steps of AdamW that every node takes
// alone,
//
//   D <- mean of x_0 - x;   u <- mu u + D;   x_0 <- x_0 - eta (D + mu u);   x_i <- x_0
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

namespace {

constexpr double b1 = 0.8, b2 = 0.95, epsilon = 1e-5;

struct AdamNodes {
    const Setting& s;
    Models x = s.starts(), m = Models::Zero(entries, s.nodes), v = m;
    Eigen::VectorXd taken = Eigen::VectorXd::Zero(s.nodes);  // steps of the present life

    void step(const Trace& trace, std::int64_t k) {
        take_returned(trace, k, x);
        forget_returned(s, k, m);
        forget_returned(s, k, v);
        for (int i = 0; i < s.nodes; ++i)
            if (s.returns(i, k)) taken[i] = 0;
        for (const int i : s.members(k)) {
            const Column g = s.gradient(x.col(i), i, k);
            m.col(i) = b1 * m.col(i) + (1 - b1) * g;
            v.col(i) = b2 * v.col(i) + (1 - b2) * g.cwiseAbs2();
            const double t = ++taken[i];
            const Column mean = m.col(i) / (1 - std::pow(b1, t));
            const Column root = (v.col(i) / (1 - std::pow(b2, t))).cwiseSqrt();
            const Column r = mean.array() / (root.array() + epsilon);
            x.col(i) -= s.gamma(k) * (r + s.lambda * x.col(i));
        }
    }
};

History diloco(const Case& run) {
    const Setting& s = run.setting;
    const double eta = run.algorithm->at("outer_learning_rate");
    const double mu = run.algorithm->at("outer_momentum");
    Trace trace{s};
    AdamNodes nodes{s};
    Column anchor = s.start(), u = Column::Zero(entries);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        nodes.step(trace, k);
        if ((k + 1) % 4 == 0) {
            const Column d = anchor - mean_of(nodes.x, s.members(k));
            u = mu * u + d;
            anchor -= eta * (d + mu * u);
            nodes.x.colwise() = anchor;
        }
        trace.note(k, nodes.x);
    }
    return trace.done();
}

std::vector<Case> cases() {
    const Json algorithm{{"kind", "diloco"},      {"period", 4}, {"outer_learning_rate", 0.6},
                         {"outer_momentum", 0.7}, {"beta1", b1}, {"beta2", b2},
                         {"epsilon", epsilon}};
    const Setting own{.outages = {{1, 9, 16}, {4, 18, 36}}};
    Setting copies{.outages = {{0, 6, 12}, {3, 26, 40}}};
    copies.returns_with_a_peers_model = true;
    return {{"AdamW and Nesterov", algorithm, {}, &diloco},
            {"two nodes die and return", algorithm, own, &diloco},
            {"two nodes die, return with a peer's model", algorithm, copies, &diloco}};
}

constexpr auto papers = std::to_array<Paper>({
    {"diloco", "Douillard et al., 2023; released code: OpenDiLoCo",
     "inner AdamW, whose state stays local; outer SGD in Nesterov's form of PyTorch",
     "the paper's text was not available; the released code is of another group", &cases},
});

}  // namespace

std::span<const Paper> diloco_papers() {
    return papers;
}

}  // namespace paceline::papers
