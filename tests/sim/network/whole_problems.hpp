// Hands whole problems to a solver of max-min rates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/max_min.hpp"

namespace paceline {

/// Allocates nothing once warm.
class WholeProblems {
  public:
    using Index = MaxMin::Index;

    /// Flow f crosses the links hops[first_hop[f] .. first_hop[f + 1]), each once; first_hop has
    /// one more entry than there are flows. Returns one rate per flow, valid until the next
    /// problem. Requires at least one link per flow.
    std::span<const double> solve(std::span<const double> capacity,
                                  std::span<const Index> first_hop, std::span<const Index> hops) {
        build(capacity, first_hop, hops);
        return max_min_.fill();
    }
    std::span<const double> solve_evenly(std::span<const double> capacity,
                                         std::span<const Index> first_hop,
                                         std::span<const Index> hops) {
        build(capacity, first_hop, hops);
        return max_min_.fill_evenly();
    }

  private:
    void build(std::span<const double> capacity, std::span<const Index> first_hop,
               std::span<const Index> hops) {
        max_min_.clear(capacity.size(), first_hop.size() - 1, hops.size());
        flows_.assign(capacity.size(), 0);
        for (const Index link : hops) ++flows_[link];
        for (Index link = 0; link < capacity.size(); ++link)
            max_min_.add_link(capacity[link], flows_[link]);
        places_.clear();
        for (Index link = 0; link < capacity.size(); ++link)
            places_.push_back(max_min_.list_flows(link));
        for (Index flow = 0; flow + 1 < first_hop.size(); ++flow) {
            const std::span<const Index> route =
                hops.subspan(first_hop[flow], first_hop[flow + 1] - first_hop[flow]);
            max_min_.end_flow(std::ranges::copy(route, max_min_.add_flow()).out);
            for (const Index link : route) *places_[link]++ = flow;
        }
    }

    MaxMin max_min_;
    std::vector<Index> flows_;    // [link], how many
    std::vector<Index*> places_;  // [link], where to list the next of its flows
};

}  // namespace paceline
