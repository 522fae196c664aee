// AD-PSGD: each node takes steps of its own, and beside them pairs average their models.
//
// Even nodes are passive, odd ones active; so no cycle of nodes waits for one another.
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
// The last line is the average of the two where x_i is still s; a gradient applied meanwhile is
// kept, so the sum of all models changes by gradients alone. Gradients are taken at a model that
// exchanges may since have changed.
//
// Partners: i +- 1, then i +- (1 + 2^h) mod n, h = 1 .. floor(log2(n-1)), in turn. With n odd,
// those that would be active themselves are left out (the last and the first node are both
// passive). Gossip runs free in the released code, and then dilutes gradients; here an active node
// begins one exchange per gradient step, and a new one not before the former is done, so that the
// network's speed caps it. Exchanges still under way when the last step is done are finished.
//
// A partner that is away is passed over; one that dies within an exchange leaves the model of the
// other as it is, and the sum of all models changes by half of what lay between the two if it had
// taken its half already.
//
// n = 1: SGD. Messages weigh the model, one each way and exchange. Source: Lian, Zhang, Zhang, Liu,
// ICML 2018; roles, partners and order: released code, facebookresearch/stochastic_gradient_push.
// The additive form is derived.
#pragma once

#include <vector>

#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct AdPsgdOptions {
    MomentumRule rule{};
};

/// The passive partners of an active node, in the order of their turns; none for a passive node.
[[nodiscard]] std::vector<int> ad_psgd_partners(int rank, int nodes);

Task<> ad_psgd(Worker& self, AdPsgdOptions options);

}  // namespace paceline
