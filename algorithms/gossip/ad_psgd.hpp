// AD-PSGD: each node takes steps on its own. In parallel, pairs of nodes average their models.
//
// Even nodes are passive and odd nodes are active, so nodes never wait for one another in a cycle.
//
//   compute:  z_i = x_i;  g_i at z_i;  x_i  <-  x_i + momentum_change(g_i)       never waits
//   gossip, active i:   pick passive j;  send s = x_i
//           passive j:  answer t = x_j;  x_j  <-  x_j + (s - x_j) / 2
//           active i:                    x_i  <-  x_i + (t - s) / 2
//
//   symbol   here           meaning
//   x_i      self.model()   model of worker i, changed by its steps and by its exchanges
//   m_i      m              momentum (optimizers/momentum_change.hpp), 0 at first, never sent
//
// The last line is the average of the two models if x_i still equals s. A gradient applied in the
// meantime is kept, so only gradients change the sum of all models. A gradient is taken at a model
// that exchanges may have changed since.
//
// Partners: i +- 1, then i +- (1 + 2^h) mod n, h = 1 .. floor(log2(n-1)), in turn. If n is odd,
// partners that would be active themselves are left out (the last and the first node are both
// passive). In the released code gossip runs freely, and then dilutes gradients. Here an active
// node starts one exchange per gradient step, and only after the previous one is done, so the
// network's speed limits the number of exchanges. Exchanges in flight after the last step are
// finished.
//
// A node skips a partner that is away. If a partner dies during an exchange, the other node's model
// stays as it is. If the partner had already applied its half, the sum of all models changes by
// half the difference between the two.
//
// With n = 1 this is SGD. Each exchange sends one message each way, of the size of the model.
// Source: Lian, Zhang, Zhang, Liu, ICML 2018; roles, partners and order: released code,
// facebookresearch/stochastic_gradient_push. The additive form is derived.
#pragma once

#include <vector>

#include "algorithms/optimizers/momentum.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct AdPsgdOptions {
    MomentumRule rule{};
};

/// Returns the passive partners of an active node in the order of their turns. Returns none for a
/// passive node.
[[nodiscard]] std::vector<int> ad_psgd_partners(int rank, int nodes);

Task<> ad_psgd(Worker& self, AdPsgdOptions options);

}  // namespace paceline
