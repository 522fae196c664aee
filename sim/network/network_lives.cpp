// What ends the life of a message early: lanes that are closed, and hosts that leave.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/network/network.hpp"

namespace paceline {

void Network::close(Stream stream, std::span<const int> hosts, int first) {
    PACELINE_CHECK(std::ranges::is_sorted(hosts), "hosts are in increasing order");
    const auto is_among = [&](int host) { return std::ranges::binary_search(hosts, host - first); };
    lanes_.for_each([&](LaneTable::Index index) {
        const Lane& lane = lanes_[index];
        if (lane.stream == stream && is_among(lane.from) && is_among(lane.to)) close(index);
    });
    if (reservations_.reserver) reservations_.reserver->close(stream, hosts, first);
    close_gaps();
}

void Network::close_lane(int to, int from, Stream stream) {
    const LaneTable::Index lane = lanes_.find(to, from, stream);
    if (lane == LaneTable::none) return;
    close(lane);
    close_gaps();
}

void Network::close(LaneTable::Index index) {
    const Lane& lane = lanes_[index];
    PACELINE_CHECK(lane.waiting == 0, "no receiver waits on a lane that is closed");
    for (Index message = lane.oldest; message != Lane::none; message = lanes_.behind(message))
        PACELINE_CHECK(flows_[message].drained == nullptr,
                       "no sender listens on a lane that is closed");
    lanes_.remove_messages(index, [this](Index message) {
        if (has_begun(flows_[message].state)) return false;
        take_back(message);
        return true;
    });
    abandon(index);
    lanes_.remove_if_idle(index);
}

// Discards what has arrived on a lane, and what will.
void Network::abandon(LaneTable::Index index) {
    Lane& lane = lanes_[index];
    lane.arrived = 0;
    lane.under_way = 0;
    lane.cleared = 0;
    lane.owed = 0;
    for (Index message = lane.oldest; message != Lane::none; message = lanes_.behind(message))
        if (flows_[message].fate == Fate::kept) flows_[message].fate = Fate::discarded;
}

// Releases a message that does not flow yet. The caller takes it out of its lane.
void Network::take_back(Index index) {
    Flow& flow = flows_[index];
    flow.drained = nullptr;
    if (flow.state == State::preparing) {
        simulation_.cancel(flow.event);
        if (overhead_ > Duration::zero() && flow.since > simulation_.now())
            gaps_.push_back(flow.from);
    }
    release(index);
}

void Network::host_leaves(int host) {
    PACELINE_CHECK(host >= 0 && host < hosts_ && !is_away(host), "a host that leaves was there");
    settle();
    away_[static_cast<std::size_t>(host)] = 1;
    lose_messages_from(host);
    lanes_.for_each([&](LaneTable::Index index) {
        if (lanes_[index].to != host) return;
        PACELINE_CHECK(lanes_[index].waiting == 0, "no receiver waits at a host that leaves");
        abandon(index);
        const Index first = lanes_[index].undrained;
        if (first != Lane::none && flows_[first].state == State::held) start_first(index);
        lanes_.remove_if_idle(index);
    });
    if (!sender_free_.empty()) sender_free_[static_cast<std::size_t>(host)] = simulation_.now();
    if (!receiver_free_.empty()) receiver_free_[static_cast<std::size_t>(host)] = simulation_.now();
    gaps_.clear();  // only this host's, whose queue is empty
}

void Network::host_returns(int host) {
    PACELINE_CHECK(host >= 0 && host < hosts_ && is_away(host), "a host that returns was away");
    away_[static_cast<std::size_t>(host)] = 0;
}

// Flows stop in the order of their numbers, so that ties do not depend on lanes.
void Network::lose_messages_from(int host) {
    for (Index index = 0; index < flows_.size(); ++index) {
        if (flows_[index].from != host) continue;
        if (flows_[index].state == State::stranded) take_back(index);
        if (has_begun(flows_[index].state)) lose(index);
    }
    lanes_.for_each([&](LaneTable::Index index) {
        if (lanes_[index].from != host) return;
        lanes_.remove_messages(index, [this](Index message) {
            if (has_begun(flows_[message].state)) return false;
            take_back(message);
            return true;
        });
        lanes_[index].under_way = 0;
        lanes_[index].cleared = 0;
        lanes_.remove_if_idle(index);
    });
}

void Network::lose(Index index) {
    Flow& flow = flows_[index];
    flow.fate = Fate::lost;
    flow.drained = nullptr;
    if (on_links(flow.state)) stop_flow(index);
}

// Takes a flow off the wires. Its size becomes the bytes that have flowed.
void Network::stop_flow(Index index) {
    std::erase(started_, index);
    apply_rate(index, 0);
    Flow& flow = flows_[index];
    unschedule(flow);
    leave_links(index);
    flow.size = flow.size - Bytes{static_cast<std::int64_t>(std::ceil(flow.remaining))};
    flow.state = State::draining;
    simulation_.at(simulation_.now(), action<&Network::drain>(*this, index), flow.kind,
                   key(EventRank::drains, flow));
}

// Lets the messages behind those that were taken back have their senders' overhead earlier.
void Network::close_gaps() {
    if (gaps_.empty()) return;
    std::ranges::sort(gaps_);
    std::vector<Index> preparing;
    for (Index index = 0; index < flows_.size(); ++index) {
        const Flow& flow = flows_[index];
        if (flow.state == State::preparing && flow.since > simulation_.now() &&
            std::ranges::binary_search(gaps_, flow.from))
            preparing.push_back(index);
    }
    std::ranges::sort(preparing, {}, [this](Index index) {
        return std::tuple(flows_[index].from, flows_[index].since);
    });
    for (const int host : gaps_) sender_free_[static_cast<std::size_t>(host)] = simulation_.now();
    gaps_.clear();
    for (const Index index : preparing) prepare_earlier(index);
}

// The sender spends its overhead on a message once it is free, unless it has already begun to.
void Network::prepare_earlier(Index index) {
    Flow& flow = flows_[index];
    Time& free = sender_free_[static_cast<std::size_t>(flow.from)];
    const bool has_its_turn = flow.since - overhead_ <= simulation_.now();
    const Time spent = has_its_turn ? flow.since : later(free, overhead_);
    free = spent;
    if (spent == flow.since) return;
    flow.since = spent;
    simulation_.cancel(flow.event);
    flow.event = simulation_.at(later(spent, flow.latency), action<&Network::start>(*this, index),
                                flow.kind, key(EventRank::begins, flow));
}

}  // namespace paceline
