#include "tests/papers/local/adam_nodes.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace paceline::papers {

namespace {

constexpr double b1 = 0.8, b2 = 0.95, epsilon = 1e-5;

}  // namespace

void AdamNodes::forget(int node) {
    m.col(node).setZero();
    v.col(node).setZero();
    taken[node] = 0;
}

void AdamNodes::step(const Trace& trace, std::int64_t k) {
    take_returned(trace, k, x);
    for (int i = 0; i < s.nodes; ++i)
        if (s.returns(i, k)) forget(i);
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

Json with_adam(Json algorithm) {
    algorithm.update({{"beta1", b1}, {"beta2", b2}, {"epsilon", epsilon}});
    return algorithm;
}

std::vector<Case> with_failures(const Json& algorithm, History (*reference)(const Case&)) {
    const Setting own{.outages = {{1, 9, 16}, {4, 18, 36}}};
    Setting copies{.outages = {{0, 6, 12}, {3, 26, 40}}};
    copies.returns_with_a_peers_model = true;
    return {{"no failures", algorithm, {}, reference},
            {"two nodes die and return", algorithm, own, reference},
            {"two nodes die, return with a peer's model", algorithm, copies, reference}};
}

}  // namespace paceline::papers
