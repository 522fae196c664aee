// Stochastic gradient push (Assran et al., ICML 2019, Algorithm 1): node j divides (x_j, w_j)
// equally among itself and its listeners.
//
//   z_i = x_i / w_i;   x_i <- x_i - gamma (momentum of g_i(z_i));   (x, w) <- P (x, w)
//
// OSGP applies a message one step late: what was sent after step k - 1 enters after the gradient of
// step k. P has columns of sum 1; w leaves 1 where rows do not sum to 1. Shares go to living nodes;
// a node that returns begins with w = 1.
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

namespace {

// p_ij: what j gives to i in step k. Listeners of j are the nodes whose weight for j is not 0.
Models shares(const Setting& s, std::int64_t k) {
    const Models& w = s.mixing[static_cast<std::size_t>(k) % s.mixing.size()];
    Models p = Models::Identity(s.nodes, s.nodes);
    for (const int j : s.members(k)) {
        for (const int i : s.members(k))
            if (w(i, j) != 0) p(i, j) = 1;
        p.col(j) /= p.col(j).sum();
    }
    return p;
}

struct Push {
    const Setting& s;
    Models z = s.starts(), m = Models::Zero(entries, s.nodes);
    Models x = z;  // numerators
    Eigen::RowVectorXd w = Eigen::RowVectorXd::Ones(s.nodes);

    void begin_again(const Trace& trace, std::int64_t k) {
        take_returned(trace, k, z);
        forget_returned(s, k, m);
        for (int i = 0; i < s.nodes; ++i)
            if (s.returns(i, k)) x.col(i) = z.col(i), w(i) = 1;
    }
    void take_step(std::int64_t k, const Models& g) {
        for (const int i : s.members(k)) x.col(i) -= s.gamma(k) * momentum(s, m.col(i), g.col(i));
    }
    void divide() { z = x.array().rowwise() / w.array(); }
};

History sgp(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Push push{s};
    for (std::int64_t k = 0; k < s.steps; ++k) {
        push.begin_again(trace, k);
        push.take_step(k, gradients(s, push.z, k));
        push.x *= shares(s, k).transpose();
        push.w *= shares(s, k).transpose();
        push.divide();
        trace.note(k, push.z);
    }
    return trace.done();
}

History osgp(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Push push{s};
    Models coming = Models::Zero(entries, s.nodes);  // sent after the step before
    Eigen::RowVectorXd weight = Eigen::RowVectorXd::Zero(s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        push.begin_again(trace, k);
        const Models g = gradients(s, push.z, k);
        push.x += coming;
        push.w += weight;
        push.take_step(k, g);
        push.divide();
        trace.note(k, push.z);
        const Models p = shares(s, k);
        const Models kept = p.diagonal().asDiagonal();
        coming = push.x * (p - kept).transpose();
        weight = push.w * (p - kept).transpose();
        push.x *= kept;
        push.w *= kept;
    }
    push.x += coming;
    push.w += weight;
    push.divide();
    History history = trace.done();
    history.back() = push.z;
    return history;
}

std::vector<Case> cases_of(const char* name, History (*reference)(const Case&)) {
    const auto on = [name](const Json& mixing) { return Json{{"kind", name}, {"mixing", mixing}}; };
    const Json unbalanced = on(explicit_mixing(unbalanced_weights()));
    const Json irregular = on(explicit_mixing(irregular_weights()));
    const Json one_peer = on({{"kind", "one-peer-exponential"}});
    Setting directed{.nesterov = true};
    directed.mixing = {unbalanced_weights()};
    Setting turning{.nodes = 6, .nesterov = true};
    turning.mixing = one_peer_weights(6);
    Setting failing{.mixing = {irregular_weights()}};
    failing.outages = {{1, 9, 17}, {4, 14, 30}};
    return {
        {"irregular directed graph, Nesterov", unbalanced, directed, reference},
        {"irregular graph", irregular, {.mixing = {irregular_weights()}}, reference},
        {"one-peer exponential, Nesterov", one_peer, turning, reference},
        {"two nodes die and return", irregular, failing, reference},
    };
}

std::vector<Case> of_sgp() {
    return cases_of("sgp", &sgp);
}
std::vector<Case> of_osgp() {
    return cases_of("osgp", &osgp);
}

constexpr auto papers = std::to_array<Paper>({
    {"sgp", "local momentum, equal shares, any directed graph", "none", &of_sgp},
    {"osgp", "messages one step late (tau = 1)", "the paper's tau above 1 is not available",
     &of_osgp},
});

}  // namespace

std::span<const Paper> push_sum_papers() {
    return papers;
}

}  // namespace paceline::papers
