// What references of local methods share: nodes that take momentum steps alone.
#pragma once

#include <vector>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

struct LocalNodes {
    const Setting& s;
    Models x = s.starts(), m = Models::Zero(entries, s.nodes);

    /// m_i <- beta m_i + g_i, with g_i clipped and lambda x_i added; x_i <- x_i - gamma m_i, or
    /// Nesterov's. Nodes that return begin with m_i = 0.
    void step(const Trace& trace, std::int64_t k);
    void all_at(const Column& at) { x.colwise() = at; }
};

/// Returns runs with heavy ball, Nesterov and clipping, and failures, whose last node returns in
/// step 36, a multiple of the usual periods.
std::vector<Case> locally(const Json& algorithm, History (*reference)(const Case&));

}  // namespace paceline::papers
