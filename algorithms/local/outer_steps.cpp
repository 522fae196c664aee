#include "algorithms/local/outer_steps.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

struct Stepped {
    std::int64_t k;
    const Vector& gradient;
    Vector& y;
    Vector& m;
    Vector& v;
};

// One of the rules is chosen by overloading.
void take_outer_step(const OuterAverage& /*rule*/, const Stepped& at) {
    at.y -= at.gradient;
}
void take_outer_step(const OuterSgd& rule, const Stepped& at) {
    if (rule.momentum == 0) {
        at.y -= rule.rate * at.gradient;
        return;
    }
    at.m = rule.momentum * at.m + at.gradient;
    at.y -= rule.rate * at.m;
}
void take_outer_step(const OuterNesterov& rule, const Stepped& at) {
    at.m = rule.momentum * at.m + at.gradient;
    at.y -= rule.rate * (at.gradient + rule.momentum * at.m);
}
void take_outer_step(const OuterAdam& rule, const Stepped& at) {
    adam_step(rule.rule, rule.rate, at.k + 1, at.gradient, at.m, at.v, at.y);
}

int remembered(const OuterAverage& /*rule*/) {
    return 0;
}
int remembered(const OuterSgd& rule) {
    return rule.momentum == 0 ? 0 : 1;
}
int remembered(const OuterNesterov& /*rule*/) {
    return 1;
}
int remembered(const OuterAdam& /*rule*/) {
    return 2;
}

}  // namespace

void slow_step(const SlowMomentum& rule, double gamma, const Vector& mean, Vector& y, Vector& u) {
    u = rule.beta * u + (y - mean) / gamma;
    y -= rule.alpha * gamma * u;
}

int vectors_of(const OuterRule& rule) {
    return std::visit([](const auto& one) { return remembered(one); }, rule);
}

OuterState::OuterState(Worker& self, const OuterRule& rule)
    : none(self.model().layout()),
      y(self.replicated("anchor", self.model())),
      m(vectors_of(rule) > 0 ? self.replicated("outer momentum") : none),
      v(vectors_of(rule) > 1 ? self.replicated("outer variance") : none) {}

void outer_step(const OuterRule& rule, std::int64_t k, const Vector& gradient, Vector& y, Vector& m,
                Vector& v) {
    std::visit([&](const auto& one) { take_outer_step(one, {k, gradient, y, m, v}); }, rule);
}

}  // namespace paceline
