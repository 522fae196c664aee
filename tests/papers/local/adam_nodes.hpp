// What references of local methods that train with AdamW share: nodes that take its steps alone,
//
//   m_i <- b1 m_i + (1 - b1) g_i;   v_i <- b2 v_i + (1 - b2) g_i^2
//   x_i <- x_i - gamma (m^_i / (sqrt(v^_i) + epsilon) + lambda x_i)
//
// with m^ = m / (1 - b1^t) and v^ = v / (1 - b2^t), where t counts the steps since m_i and v_i were
// 0.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "app/json/json_file.hpp"
#include "tests/papers/papers.hpp"

namespace paceline::papers {

struct AdamNodes {
    const Setting& s;
    Models x = s.starts(), m = Models::Zero(entries, s.nodes), v = m;
    Eigen::VectorXd taken = Eigen::VectorXd::Zero(s.nodes);  // t of each node

    /// Nodes that return begin with m_i = v_i = 0.
    void step(const Trace& trace, std::int64_t k);
    void forget(int node);
};

/// Returns the algorithm with the b1, b2 and epsilon of these nodes.
Json with_adam(Json algorithm);

/// Returns runs without failures, and with failures after which nodes return with models of their
/// own or of peers.
std::vector<Case> with_failures(const Json& algorithm, History (*reference)(const Case&));

}  // namespace paceline::papers
