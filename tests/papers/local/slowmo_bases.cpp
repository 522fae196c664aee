#include "tests/papers/local/slowmo_bases.hpp"

#include <cmath>

#include "tests/papers/graphs.hpp"

namespace paceline::papers {

// Adam (Kingma, Ba, ICLR 2015, Algorithm 1) of each node alone, with lambda x in the gradient.
void SlowmoBase::adam(std::int64_t k) {
    constexpr double beta2 = 0.99, epsilon = 1e-6;
    const auto t = static_cast<double>(++adam_steps);
    for (const int i : s.members(k)) {
        const Column g = s.gradient(nodes.x.col(i), i, k) + s.lambda * nodes.x.col(i);
        nodes.m.col(i) = s.beta * nodes.m.col(i) + (1 - s.beta) * g;
        squares.col(i) = beta2 * squares.col(i) + (1 - beta2) * g.cwiseAbs2();
        const Column root = (squares.col(i) / (1 - std::pow(beta2, t))).cwiseSqrt();
        const Column mean = nodes.m.col(i) / (1 - std::pow(s.beta, t));
        nodes.x.col(i).array() -= s.gamma(k) * mean.array() / (root.array() + epsilon);
    }
}

// Dense SGD of one model, which exists once and outlives the absence of nodes.
void SlowmoBase::all_reduce(std::int64_t k) {
    const std::vector<int> members = s.members(k);
    const Column x = nodes.x.col(members.front());
    Column g = s.lambda * x;
    for (const int i : members) g += s.gradient(x, i, k) / static_cast<double>(members.size());
    nodes.x = (x - s.gamma(k) * momentum(s, nodes.m.col(0), g)).replicate(1, s.nodes);
}

void SlowmoBase::train(const Trace& trace, std::int64_t k) {
    if (kind == "all-reduce")
        all_reduce(k);
    else if (kind == "local-adam" || kind == "sgp-adam")
        adam(k);
    else
        nodes.step(trace, k);
}

// SGP and OSGP (push_sum_papers.cpp); the quotients were `before`, and have taken a step.
void SlowmoBase::push(const Models& before) {
    const Models sum = numerators(before) + nodes.x - before + coming;
    weights += coming_weights;
    Models p = s.mixing[0].cwiseSign();
    for (int j = 0; j < s.nodes; ++j) p.col(j) /= p.col(j).sum();
    if (kind != "osgp") {
        weights *= p.transpose();
        nodes.x = (sum * p.transpose()).array().rowwise() / weights.array();
        return;
    }
    const Models kept = p.diagonal().asDiagonal();
    nodes.x = sum.array().rowwise() / weights.array();
    coming = sum * (p - kept).transpose();
    coming_weights = weights * (p - kept).transpose();
    weights *= kept;
}

void SlowmoBase::drain() {
    const Models sum = numerators(nodes.x) + coming;
    weights += coming_weights;
    nodes.x = sum.array().rowwise() / weights.array();
    coming.setZero();
    coming_weights.setZero();
}

void SlowmoBase::step(const Trace& trace, std::int64_t k) {
    const Models before = nodes.x;
    train(trace, k);
    if (kind.find("sgp") != std::string::npos) push(before);
    if (kind == "dsgd") nodes.x = mixed(s, k, nodes.x, after_gradient);
}

void SlowmoBase::renew(const std::string& buffers, std::int64_t k) {
    for (Models* each : {&nodes.m, &squares}) {
        if (buffers == "reset") each->setZero();
        if (buffers == "average") *each = mean_of(*each, s.members(k)).replicate(1, s.nodes);
    }
    if (buffers == "reset") adam_steps = 0;
}

Column SlowmoBase::mean(std::int64_t k) const {
    return mean_of(numerators(nodes.x), s.members(k));
}

}  // namespace paceline::papers
