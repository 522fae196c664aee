#include "sim/network/max_min.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

namespace paceline {

namespace {

constexpr double unset = -1;

}  // namespace

void MaxMin::clear(std::size_t most_links, std::size_t most_flows, std::size_t most_hops) {
    if (links_.size() < most_links) links_.resize(most_links);
    if (first_hop_.size() < most_flows + 1) first_hop_.resize(most_flows + 1);
    if (rate_.size() < most_flows) rate_.resize(most_flows);
    if (share_.size() < most_links) share_.resize(most_links);
    if (hops_.size() < most_hops) hops_.resize(most_hops);
    if (listed_.size() < most_hops) listed_.resize(most_hops);
    links_end_ = flows_end_ = hops_end_ = listed_end_ = 0;
}

std::span<const double> MaxMin::fill() {
    std::fill_n(rate_.begin(), flows_end_, unset);
    first_hop_[flows_end_] = hops_end_;
    if (links_end_ <= few)
        fill_by_scan();
    else
        fill_by_heap();
    return {rate_.data(), flows_end_};
}

// Notes the shares of links, and returns the smallest.
double MaxMin::smallest_share() {
    double smallest = std::numeric_limits<double>::infinity();
    for (Index link = 0; link < links_end_; ++link) {
        if (links_[link].unfixed == 0) continue;
        share_[link] = share(link);
        smallest = std::min(smallest, share_[link]);
    }
    return smallest;
}

// All links with the smallest share fill together. What their flows take of other links is
// subtracted at once, so that links that are alike stay so. The heap serves as a list: how many
// flows of each link this has fixed.
std::span<const double> MaxMin::fill_evenly() {
    std::fill_n(rate_.begin(), flows_end_, unset);
    first_hop_[flows_end_] = hops_end_;
    heap_.assign(links_end_, {});
    Index unfixed = flows_end_;
    const auto fix_once = [&](Index flow, double rate) {
        if (rate_[flow] != unset) return;
        rate_[flow] = rate;
        --unfixed;
        for (Index hop = first_hop_[flow]; hop < first_hop_[flow + 1]; ++hop)
            ++heap_[hops_[hop]].link;
    };
    while (unfixed > 0) {
        const double smallest = smallest_share();
        for (Index link = 0; link < links_end_; ++link) {
            const LinkLoad& load = links_[link];
            if (load.unfixed == 0 || share_[link] != smallest) continue;
            if (load.only != none) fix_once(load.only, smallest);
            for (Index i = load.first; i < load.end; ++i) fix_once(listed_[i], smallest);
        }
        for (Index link = 0; link < links_end_; ++link) {
            const Index fixed = std::exchange(heap_[link].link, 0);
            links_[link].left = std::max(0.0, links_[link].left - fixed * smallest);
            links_[link].unfixed -= fixed;
        }
    }
    return {rate_.data(), flows_end_};
}

// A link without unfixed flows has the share `never`.
void MaxMin::fill_by_scan() {
    constexpr double never = std::numeric_limits<double>::infinity();
    const Index links = links_end_;
    for (Index link = 0; link < links; ++link)
        shares_[link] = links_[link].unfixed > 0 ? share(link) : never;
    for (Index unfixed = flows_end_; unfixed > 0;) {
        Index earliest = 0;
        double smallest = shares_[0];
        for (Index link = 1; link < links; ++link) {
            const bool smaller = shares_[link] < smallest;
            earliest = smaller ? link : earliest;
            smallest = smaller ? shares_[link] : smallest;
        }
        const Index left = links_[earliest].unfixed;
        shares_[earliest] = never;
        if (left == 0) continue;
        const double now = share(earliest);
        if (now > smallest) {  // flows have been fixed since: the entry was stale
            shares_[earliest] = now;
            continue;
        }
        unfixed -= left;
        fix_flows(earliest, now);
    }
}

// Links that have lost all their flows may still be in the heap when the last flow is fixed.
void MaxMin::fill_by_heap() {
    make_heap();
    for (Index unfixed = flows_end_; unfixed > 0;) {
        const auto [pushed_share, link] = heap_.front();
        const Index left = links_[link].unfixed;
        if (left == 0) {
            drop_top();
            continue;
        }
        const double now = share(link);
        if (now > pushed_share) {  // flows have been fixed since: the entry was stale
            sift_down(0, {now, link});
            continue;
        }
        unfixed -= left;
        fix_flows(link, now);
    }
}

void MaxMin::fix_flows(Index link, double share) {
    const LinkLoad& load = links_[link];
    if (load.only != none) return fix(load.only, share);
    const Index end = load.end;
    for (Index i = load.first; i < end; ++i)
        if (rate_[listed_[i]] == unset) fix(listed_[i], share);
}

inline void MaxMin::fix(Index flow, double share) {
    rate_[flow] = share;
    const Index end = first_hop_[flow + 1];
    for (Index hop = first_hop_[flow]; hop < end; ++hop) {
        LinkLoad& crossed = links_[hops_[hop]];
        crossed.left = std::max(0.0, crossed.left - share);
        --crossed.unfixed;
    }
}

// Compares (share, link) as a single number of 128 bits: which of two shares is smaller is
// unpredictable, and this comparison has no branch. Doubles that are not negative are ordered like
// their bits.
bool MaxMin::fills_earlier(const Entry& a, const Entry& b) {
    __extension__ using Wide = unsigned __int128;
    const auto key = [](const Entry& entry) {
        return (Wide{std::bit_cast<std::uint64_t>(entry.share)} << 64U) | Wide{entry.link};
    };
    return key(a) < key(b);
}

void MaxMin::make_heap() {
    heap_.clear();
    for (Index link = 0; link < links_end_; ++link)
        if (links_[link].unfixed > 0) heap_.push_back({share(link), link});
    for (std::size_t hole = heap_.size() / 4 + 1; hole-- > 0;)
        if (hole < heap_.size()) sift_down(hole, heap_[hole]);
}

// Places the entry in the hole or below it, where it is in order. Four children share a cache line.
void MaxMin::sift_down(std::size_t hole, Entry entry) {
    const std::size_t size = heap_.size();
    while (4 * hole + 1 < size) {
        const std::size_t first = 4 * hole + 1;
        const std::size_t end = std::min(first + 4, size);
        std::size_t best = first;
        for (std::size_t child = first + 1; child < end; ++child)
            best = fills_earlier(heap_[child], heap_[best]) ? child : best;
        if (!fills_earlier(heap_[best], entry)) break;
        heap_[hole] = heap_[best];
        hole = best;
    }
    heap_[hole] = entry;
}

void MaxMin::drop_top() {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
}

}  // namespace paceline
