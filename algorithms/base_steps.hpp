// Steps of the optimizers that methods with an outer loop are built on: SlowMo, BMUF, local SGD and
// their relatives train with one of these between two averages.
//
//   local        m_i <- beta m_i + g_i;  x_i <- x_i - gamma m_i            no message
//   sgp          the same on the numerator w_i x_i, with g_i at x_i;  then push-sum of (w_i x_i, w_i)
//   dsgd         the same;  then x_i <- sum over j of w_ij x_j             adapt then combine
//   all-reduce   the same with (1/n) sum of g_i: x_i stays equal on all workers
//   local-adam   m_i <- b1 m_i + (1 - b1) g_i;  v_i <- b2 v_i + (1 - b2) g_i^2;
//                x_i <- x_i - gamma (m_i / (1 - b1^s)) / (sqrt(v_i / (1 - b2^s)) + eps)
//                                                                        (optimizers/adam.hpp)
//
//   symbol       here             meaning
//   x_i          self.model()     model of worker i; of sgp the de-biased one
//   g_i                           its stochastic gradient at x_i
//   gamma                         learning rate of the step
//   beta, b1     rule.momentum    momentum; Nesterov's form as in optimizers/momentum.hpp
//   b2, eps      beta2, epsilon   of Adam
//   m_i, v_i     m, v             buffers, 0 at first
//   w_i          w                weight of push-sum, 1 at first
//   s            steps            steps since the buffers were zero
//
// Clipping and weight decay are those of optimizers/momentum.hpp, on each worker's own gradient:
// clip is a norm of g_i and not of a mean (all-reduce: of the mean). Decay is at x_i.
//
// One step takes the time of a gradient and of the job's update, and then, of sgp and dsgd, that of
// a message to each listener; all-reduce: of an all-reduce between the two. Arithmetic runs on the
// threads of gradients. Sources: Adam: Kingma, Ba, ICLR 2015, Algorithm 1; sgp: Assran et al., ICML
// 2019, its order from released code (algorithms/sgp.hpp); dsgd: algorithms/dmsgd.hpp.
#pragma once

#include <cstdint>

#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

enum class Base : std::uint8_t { local, sgp, dsgd, all_reduce, local_adam };

struct BaseOptions {
    Base base = Base::local;
    MomentumRule rule{};  // Nesterov is not for Adam
    double beta2 = 0.999;
    double epsilon = 1e-8;
    AllReducePlan all_reduce{};  // of the base `all_reduce`
};

/// What a worker's optimizer keeps between steps.
struct BaseState {
    Vector m;
    Vector v;  // without values but for Adam
    std::int64_t steps = 0;
    double w = 1;
};

/// As it is before the first step.
BaseState base_state(const Worker& self, const BaseOptions& options);
/// Zero buffers; the weight of push-sum stays.
void reset_buffers(BaseState& state);
/// w_i x_i: what adds up to the same sum over all workers, whatever push-sum does.
Vector numerator(const BaseState& state, const Vector& x);

/// One step of this worker's model by momentum SGD; returns the momentum.
Task<Vector> local_step(Worker& self, MomentumRule rule, Vector m);
/// The others; sgp has sgp_step of algorithms/sgp.hpp. dsgd_step requires a job with a mixing.
Task<Vector> dsgd_step(Worker& self, MomentumRule rule, Vector m);
Task<Vector> all_reduce_step(Worker& self, MomentumRule rule, AllReducePlan how, Vector m);
Task<BaseState> local_adam_step(Worker& self, BaseOptions options, BaseState state);

/// The one that is chosen.
Task<BaseState> base_step(Worker& self, BaseOptions options, BaseState state);

}  // namespace paceline
