// What a solve reads of flows: the links that a flow crosses, and whether the solve has seen it.
//
// A solve reads the path of each flow once, and its visit once for each of its links. Both are kept
// apart from the flows, in 32 and 8 bytes. With flows themselves, a solve of thousands of flows
// would wait for memory: a flow takes three cache lines, and the links of a long route stand
// elsewhere.
//
// Memory: 40 bytes per flow at the peak.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

class FlowPaths {
  public:
    using Index = std::uint32_t;

    struct Visit {
        Index mark = 0;   // last solve that visited the flow
        Index local = 0;  // its number in that solve
    };

    void add_flow() {
        visits_.emplace_back();
        paths_.emplace_back();
    }
    /// Notes the route of a flow that enters its links. `route` is kept by the caller meanwhile.
    void note(Index flow, const Route& route) {
        Path& path = paths_[flow];
        path.hops = static_cast<Index>(route.size());
        if (path.hops <= most) std::ranges::copy(route, path.links.begin());
    }
    /// Returns the links of a flow. `route` is the one that was noted; it is read only if it is
    /// long.
    [[nodiscard]] std::span<const LinkId> links(Index flow, const Route& route) const {
        const Path& path = paths_[flow];
        if (path.hops > most) return {route.data(), route.size()};
        return {path.links.data(), path.hops};
    }
    [[nodiscard]] Visit& visit(Index flow) { return visits_[flow]; }
    void prefetch(Index flow) const { __builtin_prefetch(&paths_[flow]); }

  private:
    static constexpr std::size_t most = 7;  // links that are kept here
    struct alignas(32) Path {
        Index hops = 0;
        std::array<LinkId, most> links{};
    };

    std::vector<Visit> visits_;  // [flow]
    std::vector<Path> paths_;    // [flow]
};

}  // namespace paceline
