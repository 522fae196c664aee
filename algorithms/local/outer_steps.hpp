// The outer steps of methods that train on each worker alone: what becomes of the outer model y,
// given the outer gradient D, the mean of how far the workers have come.
//
//   OuterAverage    y <- y - D                              the mean of the models
//   OuterSgd        u <- mu u + D;   y <- y - eta u         heavy ball; SGD if mu is 0
//   OuterNesterov   u <- mu u + D;   y <- y - eta (D + mu u)
//   OuterAdam       a step of Adam at rate eta, with D in place of a gradient
//                   (optimizers/adam.hpp)
//
//   symbol   here       meaning
//   eta      rate       constant; the job's learning rate is that of the inner steps
//   mu       momentum   in [0, 1)
//   u        m          outer momentum, 0 at first; of Adam with v
//
// y, u and v are equal on all workers and exist once. Methods that send models, not differences,
// have the mean xbar of these:
//
//   slow momentum   u <- beta u + (y - xbar) / gamma;   y <- y - alpha gamma u
//
// with the job's learning rate gamma, on which u does not depend.
#pragma once

#include <cstdint>
#include <variant>

#include "algorithms/optimizers/adam.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

class Worker;

struct OuterAverage {};
struct OuterSgd {
    double rate = 0.7;
    double momentum = 0;
};
struct OuterNesterov {
    double rate = 0.7;
    double momentum = 0.9;
};
struct OuterAdam {
    double rate = 0.1;
    AdamRule rule{};
};

using OuterRule = std::variant<OuterNesterov, OuterAverage, OuterSgd, OuterAdam>;

struct SlowMomentum {
    double alpha = 1;
    double beta = 0.5;
};

void slow_step(const SlowMomentum& rule, double gamma, const Vector& mean, Vector& y, Vector& u);

/// Returns how many vectors a rule remembers besides the outer model.
[[nodiscard]] int vectors_of(const OuterRule& rule);

/// What all workers share; m and v have no values where a rule needs none.
struct OuterState {
    /// The outer model is that of the worker at first.
    OuterState(Worker& self, const OuterRule& rule);

    Vector none;
    Vector& y;
    Vector& m;
    Vector& v;
};

/// Takes the k-th step, 0, 1, ..., of y, m and v, which may be parts of the state.
void outer_step(const OuterRule& rule, std::int64_t k, const Vector& gradient, Vector& y, Vector& m,
                Vector& v);
inline void outer_step(const OuterRule& rule, std::int64_t k, const Vector& gradient,
                       OuterState& state) {
    outer_step(rule, k, gradient, state.y, state.m, state.v);
}

}  // namespace paceline
