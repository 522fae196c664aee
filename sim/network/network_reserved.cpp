// What the network does for messages over reserved links (sim/network/reservations.hpp).
#include <algorithm>

#include "sim/network/network.hpp"

namespace paceline {

bool Network::follows_wires() const {
    return !by_events_ && !has_cables() && (observer_ == nullptr || observer_->carries) &&
           slow_start_.first_window == Bytes{0} &&
           (impairments_ == nullptr || !impairments_->has_jitter());
}

bool Network::is_idle(int host, std::span<const LinkId> links) const {
    const bool is_free =
        sender_free_.empty() || sender_free_[static_cast<std::size_t>(host)] <= simulation_.now();
    return is_free && !is_away(host) && std::ranges::none_of(links, [this](LinkId link) {
               return !links_[link].flows.empty() || is_down(links_[link]);
           });
}

// Of one machine alone: without the bounds of loss and of flows.
Wire Network::half_wire(std::span<const LinkId> links) const {
    Wire wire;
    for (const LinkId link : links) {
        const LinkState& state = links_[link];
        wire.latency = sum(wire.latency, state.latency);
        if (state.unlimited) continue;
        wire.is_unlimited = false;
        wire.is_down |= is_down(state);
        wire.slowest = std::min(wire.slowest, state.capacity);
    }
    wire.apart = true;
    wire.overhead = overhead_;
    return wire;
}

Wire Network::wire(int from, int to, const Route& route) const {
    Wire wire = half_wire({route.data(), route.size()});
    wire.apart = machines_.are_apart(from, to);
    if (!wire.apart) wire.overhead = {};
    if (impairments_ && !wire.is_unlimited)
        wire.slowest = std::min(wire.slowest, impairments_->bound_of(route, wire.apart));
    return wire;
}

void Network::count(int host, Bytes sent, Bytes received, std::int64_t messages) {
    Traffic& traffic = machines_.of(host);
    traffic.sent += sent;
    traffic.received += received;
    delivered_ += static_cast<std::uint64_t>(messages);
}

void Network::report_sum(Route& route, Bytes bytes, Duration busy) const {
    remove_unlimited_links(route);
    if (!route.empty()) observer_->carries(route, bytes, busy);
}

MessageId Network::adopt(const MessageUnderWay& message, Join* drained, Join& delivered) {
    const Time now = simulation_.now();
    const Index index =
        new_message(message.from, message.to, message.stream, message.size, Protocol::rendezvous);
    Flow& flow = flows_[index];
    flow.kind = message.kind;
    flow.drained = drained;
    ++lanes_[flow.lane].under_way;
    lanes_[flow.lane].receive(delivered);
    const MessageId id{index, flow.generation};
    if (message.has_drained) {
        lanes_.drain(flow.lane);
        flow.state = State::crossing;
        simulation_.at(message.arrive, action<&Network::deliver>(*this, index), flow.kind,
                       key(EventRank::arrives, flow));
        return id;
    }
    const Duration before = message.cost.occupies.of(message.wire.apart);
    flow.delay = message.cost.delays.of(message.wire.apart);
    flow.since = later(message.set_out, message.wire.overhead - before);
    const Time begin = later(flow.since, before);
    if (begin >= now) {
        if (flow.since >= now) sender_free_[static_cast<std::size_t>(message.from)] = flow.since;
        flow.latency = before;
        flow.state = State::preparing;
        flow.event = simulation_.at(begin, action<&Network::start>(*this, index), flow.kind,
                                    key(EventRank::begins, flow));
        return id;
    }
    flow.since = begin;
    find_route(index);
    enter_links(index);
    if (reports_sums()) report_begin(index);
    flow.rate = bytes_per_tick(message.wire.slowest);
    if (message.progress) {
        flow.since = message.progress->since;
        flow.remaining = message.progress->remaining;
        flow.rate = message.progress->rate;
    }
    if (message.grouped) group(id);
    // Others of its links may have drained in this instant
    if (message.progress && !message.grouped)
        for (const LinkId link : flow.route) mark_changed(links_[link]);
    flow.state = State::flowing;
    flow.event = simulation_.at(message.drain, action<&Network::drain>(*this, index), flow.kind,
                                key(EventRank::drains, flow));
    return id;
}

}  // namespace paceline
