// Max-min fair rates of flows that share links, by progressive filling.
//
// Given link capacities c_l and for each flow the set R_f of links it crosses, the rates x_f have
//     sum over {f : l in R_f} of x_f  <=  c_l    for each link l, and
//     each flow f has a bottleneck: a link l in R_f that is full and on which no flow is faster.
// These two conditions have exactly one solution (Bertsekas, Gallager: Data Networks, 2nd ed.,
// section 6.5.2).
//
// Method: repeatedly take the link with the smallest fair share (capacity left / flows left), give
// that share to its unfixed flows, and subtract it from the other links they cross. Shares never
// fall meanwhile, so a heap with stale entries suffices: O((routes + links) log links). Ties go to
// the lower link number. Rates have the unit of the capacities. A flow that crosses a link of
// capacity 0 gets 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace paceline {

class MaxMin {
  public:
    /// Flow f crosses the links hops[first_hop[f] .. first_hop[f + 1]), each once; first_hop has
    /// one more entry than there are flows. Returns one rate per flow, valid until the next call.
    /// Requires at least one link per flow.
    std::span<const double> solve(std::span<const double> capacity,
                                  std::span<const std::uint32_t> first_hop,
                                  std::span<const std::uint32_t> hops);

  private:
    using Index = std::uint32_t;
    struct Entry {
        double share;  // at the time it was entered
        Index link;
    };

    static bool fills_earlier(const Entry& a, const Entry& b);
    void index_flows_by_link(std::span<const Index> first_hop, std::span<const Index> hops);
    void make_heap();
    void sift_down(std::size_t hole, Entry entry);
    void drop_top();

    // Scratch, kept between calls so that solving allocates nothing once warm.
    std::vector<double> rate_;
    std::vector<double> left_;       // [link]: capacity not yet given to flows
    std::vector<Index> unfixed_;     // [link]: its flows without a rate yet
    std::vector<Index> first_flow_;  // flows of link l: flows_[first_flow_[l] .. first_flow_[l+1])
    std::vector<Index> flows_;
    std::vector<Entry> heap_;
};

}  // namespace paceline
