#include "sim/network/max_min.hpp"

#include <algorithm>
#include <cstddef>

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

bool MaxMin::fills_earlier(const Entry& a, const Entry& b) {
    return a.share < b.share || (a.share == b.share && a.link < b.link);
}

void MaxMin::make_heap() {
    heap_.clear();
    for (Index link = 0; link < left_.size(); ++link)
        if (unfixed_[link] > 0) heap_.push_back({left_[link] / unfixed_[link], link});
    for (std::size_t hole = heap_.size() / 2; hole-- > 0;) sift_down(hole, heap_[hole]);
}

// Places the entry in the hole or below it, where it is in order.
void MaxMin::sift_down(std::size_t hole, Entry entry) {
    const std::size_t size = heap_.size();
    for (std::size_t child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
        if (child + 1 < size && fills_earlier(heap_[child + 1], heap_[child])) ++child;
        if (!fills_earlier(heap_[child], entry)) break;
        heap_[hole] = heap_[child];
        hole = child;
    }
    heap_[hole] = entry;
}

void MaxMin::drop_top() {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
}

std::span<const double> MaxMin::solve(std::span<const double> capacity,
                                      std::span<const std::uint32_t> first_hop,
                                      std::span<const std::uint32_t> hops) {
    constexpr double unset = -1;
    left_.assign(capacity.begin(), capacity.end());
    rate_.assign(first_hop.size() - 1, unset);
    index_flows_by_link(first_hop, hops);
    make_heap();

    while (!heap_.empty()) {
        const auto [pushed_share, link] = heap_.front();
        if (unfixed_[link] == 0) {
            drop_top();
            continue;
        }
        const double share = left_[link] / unfixed_[link];
        if (share > pushed_share) {  // flows have been fixed since: the entry was stale
            sift_down(0, {share, link});
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
