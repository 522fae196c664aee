#include "sim/network/max_min.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace paceline {

void MaxMin::index_flows_by_link(std::span<const Index> first_hop, std::span<const Index> hops) {
    const std::size_t links = left_.size();
    first_flow_.assign(links + 1, 0);
    for (const Index link : hops) ++first_flow_[link + 1];
    for (std::size_t link = 0; link < links; ++link) first_flow_[link + 1] += first_flow_[link];
    unfixed_.assign(links, 0);
    flows_.resize(hops.size());
    for (Index flow = 0; flow + 1 < first_hop.size(); ++flow)
        for (Index hop = first_hop[flow]; hop < first_hop[flow + 1]; ++hop) {
            const Index link = hops[hop];
            flows_[first_flow_[link] + unfixed_[link]++] = flow;
        }
}

void MaxMin::push(Index link) {
    heap_.emplace_back(left_[link] / unfixed_[link], link);
    std::ranges::push_heap(heap_, std::greater{});
}

std::span<const double> MaxMin::solve(std::span<const double> capacity,
                                      std::span<const std::uint32_t> first_hop,
                                      std::span<const std::uint32_t> hops) {
    constexpr double unset = -1;
    left_.assign(capacity.begin(), capacity.end());
    rate_.assign(first_hop.size() - 1, unset);
    index_flows_by_link(first_hop, hops);
    heap_.clear();
    for (Index link = 0; link < left_.size(); ++link)
        if (unfixed_[link] > 0) push(link);

    while (!heap_.empty()) {
        std::ranges::pop_heap(heap_, std::greater{});
        const auto [pushed_share, link] = heap_.back();
        heap_.pop_back();
        if (unfixed_[link] == 0) continue;
        const double share = left_[link] / unfixed_[link];
        if (share > pushed_share) {  // others have been fixed since: the entry was stale
            push(link);
            continue;
        }
        for (Index i = first_flow_[link]; i < first_flow_[link + 1]; ++i) {
            const Index flow = flows_[i];
            if (rate_[flow] != unset) continue;
            rate_[flow] = share;
            for (Index hop = first_hop[flow]; hop < first_hop[flow + 1]; ++hop) {
                left_[hops[hop]] = std::max(0.0, left_[hops[hop]] - share);
                --unfixed_[hops[hop]];
            }
        }
    }
    return rate_;
}

}  // namespace paceline
