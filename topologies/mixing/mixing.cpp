#include "topologies/mixing/mixing.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

Mixing::Mixing(std::vector<std::vector<MixingWeight>> rows)
    : rows_(std::move(rows)), listeners_(rows_.size()) {
    for (int i = 0; i < nodes(); ++i) {
        double sum = 0;
        int last = -1;
        for (const MixingWeight& w : row(i)) {
            PACELINE_CHECK(w.node > last && w.node < nodes(), "a row names nodes in order");
            last = w.node;
            sum += w.weight;
            if (w.node != i) listeners_[static_cast<std::size_t>(w.node)].push_back(i);
        }
        PACELINE_CHECK(std::abs(sum - 1) <= 1e-12, "weights of a row sum to 1");
    }
}

Mixing make_ring_mixing(int nodes) {
    PACELINE_CHECK(nodes >= 1, "a ring has a node or more");
    std::vector<std::vector<MixingWeight>> rows(static_cast<std::size_t>(nodes));
    for (int i = 0; i < nodes; ++i) {
        const std::set<int> around{(i + nodes - 1) % nodes, i, (i + 1) % nodes};
        for (const int j : around)
            rows[static_cast<std::size_t>(i)].push_back(
                {j, 1.0 / static_cast<double>(around.size())});
    }
    return Mixing(std::move(rows));
}

Mixing make_complete_mixing(int nodes) {
    PACELINE_CHECK(nodes >= 1, "a complete graph has a node or more");
    std::vector<MixingWeight> everybody;
    for (int j = 0; j < nodes; ++j) everybody.push_back({j, 1.0 / nodes});
    return Mixing(std::vector(static_cast<std::size_t>(nodes), everybody));
}

}  // namespace paceline
