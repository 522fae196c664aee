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
// fall meanwhile, so an entry that has become stale is only ever too early, and is corrected when
// its turn comes. Up to `few` links, a scan finds the earliest entry; beyond, a heap does, in
// O((routes + links) log links). Ties go to the lower link number. The order of subtractions on a
// link is that of the shares, and subtractions of one step are of one number, so rates do not
// depend on the order of a link's flows, nor on how the earliest entry is found.
//
// Rates have the unit of the capacities. A flow that crosses a link of capacity 0 gets 0.
//
// Subtractions one by one leave links that are alike with shares that differ in the last bit: 1 -
// 1/3 - 1/3 is not 1/3. fill_evenly() fills all links with the smallest share together, and
// subtracts once what their flows take, so that rates that are equal are so to the bit. It looks at
// all links once for each different rate.
//
// A problem is built in place while the caller walks over its own links and flows, without a second
// pass over the routes:
//
//     clear(most links, flows and hops, a bound of each flow included)
//     for each link, before the first flow over it:   add_link(capacity, its number of flows)
//     for each flow:    hop = add_flow(); *hop++ = link...; end_flow(hop); perhaps add_bound(rate)
//     for each link:    place = list_flows(link); *place++ = flow... for each flow over it
//     fill();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace paceline {

class MaxMin {
  public:
    using Index = std::uint32_t;

    /// Begins a problem without links and flows. It will have at most so many.
    void clear(std::size_t most_links, std::size_t most_flows, std::size_t most_hops);
    /// Returns the number of the link; links and bounds are counted from 0.
    Index add_link(double capacity, Index flows) {
        links_[links_end_] = {.left = capacity, .unfixed = flows};
        return links_end_++;
    }
    /// Returns where to write the links of the next flow. Flows are counted from 0.
    Index* add_flow() {
        first_hop_[flows_end_++] = hops_end_;
        return hops_.data() + hops_end_;
    }
    /// `hop` is where the next link would have been written.
    void end_flow(const Index* hop) { hops_end_ = static_cast<Index>(hop - hops_.data()); }
    /// The newest flow has at most this rate: it alone crosses a further link of this capacity.
    void add_bound(double rate) {
        hops_[hops_end_++] = links_end_;
        links_[links_end_++] = {.left = rate, .unfixed = 1, .only = flows_end_ - 1};
    }
    /// Returns where to write the flows of a link, as many as it has.
    Index* list_flows(Index link) {
        LinkLoad& load = links_[link];
        load.first = listed_end_;
        load.end = listed_end_ += load.unfixed;
        return listed_.data() + load.first;
    }
    [[nodiscard]] double capacity(Index link) const { return links_[link].left; }
    [[nodiscard]] Index flows() const { return flows_end_; }
    /// Returns one rate per flow, valid until the next problem.
    std::span<const double> fill();
    /// The same; rates of flows that are alike are equal to the bit.
    std::span<const double> fill_evenly();

  private:
    static constexpr std::size_t few = 16;  // links among which a scan is faster than a heap
    static constexpr Index none = ~Index{0};

    struct LinkLoad {
        double left = 0;    // capacity not yet given to flows
        Index unfixed = 0;  // its flows without a rate yet
        Index first = 0;    // its flows are listed_[first .. end), or `only`
        Index end = 0;
        Index only = none;
    };
    struct Entry {
        double share;  // at the time it was entered
        Index link;
    };

    static bool fills_earlier(const Entry& a, const Entry& b);
    [[nodiscard]] double share(Index link) const {
        return links_[link].left / links_[link].unfixed;
    }
    [[nodiscard]] double smallest_share();
    void fill_by_scan();
    void fill_by_heap();
    void fix_flows(Index link, double share);
    void fix(Index flow, double share);
    void make_heap();
    void sift_down(std::size_t hole, Entry entry);
    void drop_top();

    // The problem and scratch. They only grow, so that solving allocates nothing once warm.
    std::vector<LinkLoad> links_;
    std::vector<Index> first_hop_;  // [flow]; fill() adds the end of the last
    std::vector<Index> hops_;
    std::vector<Index> listed_;
    std::vector<double> rate_;
    std::vector<double> share_;         // [link], at first
    std::array<double, few> shares_{};  // [link], for a scan
    std::vector<Entry> heap_;
    Index links_end_ = 0;  // how much is in use
    Index flows_end_ = 0;
    Index hops_end_ = 0;
    Index listed_end_ = 0;
};

}  // namespace paceline
