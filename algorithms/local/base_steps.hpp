// One step of the optimizers that methods with an outer loop build on: SlowMo, BMUF, local SGD and
// related methods train with one of these between two averages.
//
//   local        m_i <- beta m_i + g_i;  x_i <- x_i - gamma m_i            no message
//   sgp          the same on the numerator w_i x_i, with g_i at x_i;  then push-sum of (w_i x_i,
//                w_i)
//   osgp         the same, with messages one step late: they enter after the next gradient
//   dsgd         the same;  then x_i <- sum over j of w_ij x_j             adapt then combine
//   all-reduce   the same with (1/n) sum of g_i: x and m are equal on all workers and exist once
//   local-adam   m_i <- b1 m_i + (1 - b1) g_i;  v_i <- b2 v_i + (1 - b2) g_i^2;
//                x_i <- x_i - gamma (m_i / (1 - b1^s)) / (sqrt(v_i / (1 - b2^s)) + eps)
//                                                                        (optimizers/adam.hpp)
//   sgp-adam     local-adam's step on the numerator w_i x_i;  then push-sum of (w_i x_i, w_i)
//
//   symbol       here             meaning
//   x_i          self.model()     model of worker i; for sgp, osgp and sgp-adam the de-biased one,
//                                 for all-reduce self.replicated_model()
//   g_i                           its stochastic gradient at x_i
//   gamma                         learning rate of the step
//   beta, b1     rule.momentum    momentum; Nesterov's form as in optimizers/momentum.hpp
//   b2, eps      beta2, epsilon   of Adam
//   m_i, v_i     inner            buffers, 0 at first
//   w_i          w                weight of push-sum, 1 at first
//   s            inner.steps      steps since the buffers were last zero
//
// Clipping and weight decay are those of optimizers/momentum.hpp, applied to each worker's own
// gradient: clip bounds the norm of g_i, not of a mean (all-reduce: of the mean). Decay is taken at
// x_i.
//
// One step takes the time of a gradient and of the job's update. sgp, sgp-adam and dsgd add the
// time of a message to each listener, osgp what of it the next gradient does not hide; all-reduce
// adds an all-reduce between gradient and update. The arithmetic runs on the gradient threads.
//
// Sources: Adam: Kingma, Ba, ICLR 2015, Algorithm 1; sgp: Assran et al., ICML 2019, with the order
// from released code (algorithms/gossip/sgp.hpp); osgp: the same (algorithms/gossip/osgp.hpp);
// sgp-adam: named in SlowMo's paper, the step on the numerator is this project's reading; dsgd:
// algorithms/decentralized/dmsgd.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/exchange/push_sum.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

enum class Base : std::uint8_t { local, sgp, osgp, dsgd, all_reduce, local_adam, sgp_adam };

[[nodiscard]] constexpr bool is_adam(Base base) {
    return base == Base::local_adam || base == Base::sgp_adam;
}

struct BaseOptions {
    Base base = Base::local;
    MomentumRule rule{};  // Nesterov does not apply to Adam
    double beta2 = 0.999;
    double epsilon = 1e-8;
    AllReducePlan all_reduce{};  // used by `all_reduce` only
};

/// Returns the optimizer of a base, for what it remembers.
[[nodiscard]] inline InnerRule inner_of(const BaseOptions& options) {
    return is_adam(options.base) ? InnerRule(AdamRule{}) : InnerRule(options.rule);
}

/// The optimizer state that a worker keeps between steps.
struct BaseState {
    InnerState inner;  // m, v and s
    double w = 1;
    std::optional<Pending<PushSum>> pushing{};  // osgp's messages under way
};

/// Returns w_i x_i. Push-sum leaves its sum over all workers unchanged.
Vector numerator(const BaseState& state, const Vector& x);

/// Takes one momentum SGD step on the replicated model, as the update of this number
/// (Worker::once). The momentum is replicated as "momentum".
Task<> all_reduce_step(Worker& self, MomentumRule rule, AllReducePlan how, std::int64_t update);

/// Takes one step of the base that `options` chooses, which may require a job with a mixing.
/// Requires of all-reduce that there are no other updates of replicated state.
Task<BaseState> base_step(Worker& self, BaseOptions options, BaseState state);
/// Waits for the messages that the base has under way, and takes them into this worker's model.
Task<BaseState> drained(Worker& self, BaseState state);

}  // namespace paceline
