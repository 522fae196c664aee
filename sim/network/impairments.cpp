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
    if (!loses_ && limits_.bound_nothing()) return added;
    if (flow >= bounds_.size()) bounds_.resize(flow + 1, unbounded);
    bounds_[flow] = bound_of(route, between_machines);
    return added;
}

Bandwidth Impairments::bound_of(const Route& route, bool between_machines) const {
    if (!loses_ && limits_.bound_nothing()) return unbounded;
    double lost = 0;
    Duration latency{};
    Duration jitter{};
    for (const LinkId link : route) {
        lost = combined_loss(lost, links_[link].loss);
        latency = sum(latency, links_[link].latency);
        jitter = sum(jitter, mean_delay(links_[link].jitter));
    }
    const Bandwidth bound = loss_bound(lost, multiple(2, sum(latency, jitter)));
    if (!between_machines || limits_.bound_nothing()) return bound;
    return std::min(bound, limits_.bound(multiple(2, latency)));
}

// What an earlier lane of this number has left here lies in the past, and so delays nothing.
Time Impairments::in_order(std::uint32_t lane, Time arrival) {
    if (streams_.empty()) return arrival;
    if (lane >= last_arrivals_.size()) last_arrivals_.resize(lane + 1, Time::min());
    Time& last = last_arrivals_[lane];
    return last = std::max(last, arrival);
}

}  // namespace paceline
