#include "sim/network/impairments.hpp"

#include <algorithm>

#include "sim/network/loss.hpp"

namespace paceline {

namespace {

bool jitters(const Link& link) {
    return link.jitter.law != LinkJitterLaw::none;
}
bool loses(const Link& link) {
    return link.loss > 0;
}

}  // namespace

std::unique_ptr<Impairments> Impairments::make(std::span<const Link> links,
                                               const FlowLimits& limits,
                                               const RandomStreams& streams) {
    if (std::ranges::none_of(links, jitters) && std::ranges::none_of(links, loses) &&
        limits.bound_nothing())
        return nullptr;
    return std::unique_ptr<Impairments>(new Impairments(links, limits, streams));
}

Impairments::Impairments(std::span<const Link> links, const FlowLimits& limits,
                         const RandomStreams& streams)
    : limits_(limits),
      links_(links.begin(), links.end()),
      loses_(std::ranges::any_of(links, loses)) {
    if (std::ranges::none_of(links, jitters)) return;
    for (std::size_t link = 0; link < links.size(); ++link)
        streams_.push_back(streams.stream("jitter", link));
}

Duration Impairments::begin(std::uint32_t flow, const Route& route, bool between_machines) {
    Duration added{};
    if (!streams_.empty())
        for (const LinkId link : route)
            added = sum(added, draw_delay(links_[link].jitter, streams_[link]));
    const bool is_limited = between_machines && !limits_.bound_nothing();
    if (!loses_ && limits_.bound_nothing()) return added;
    double lost = 0;
    Duration latency{};
    Duration jitter{};
    for (const LinkId link : route) {
        lost = combined_loss(lost, links_[link].loss);
        latency = sum(latency, links_[link].latency);
        jitter = sum(jitter, mean_delay(links_[link].jitter));
    }
    if (flow >= bounds_.size()) bounds_.resize(flow + 1, unbounded);
    bounds_[flow] = loss_bound(lost, multiple(2, sum(latency, jitter)));
    if (is_limited) bounds_[flow] = std::min(bounds_[flow], limits_.bound(multiple(2, latency)));
    return added;
}

// What an earlier lane of this number has left here lies in the past, and so delays nothing.
Time Impairments::in_order(std::uint32_t lane, Time arrival) {
    if (streams_.empty()) return arrival;
    if (lane >= last_arrivals_.size()) last_arrivals_.resize(lane + 1, Time::min());
    Time& last = last_arrivals_[lane];
    return last = std::max(last, arrival);
}

}  // namespace paceline
