// The life of a message that nothing ends early: from send to delivery.
#include "sim/network/network.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

Network::Network(Simulation& simulation, Fabric fabric, const Transport& transport,
                 const RandomStreams& random)
    : simulation_(simulation),
      find_route_(std::move(fabric.find_route)),
      sender_free_(transport.overhead > Duration::zero() ? static_cast<std::size_t>(fabric.hosts)
                                                         : 0),
      receiver_free_(
          transport.receive_cost > Duration::zero() ? static_cast<std::size_t>(fabric.hosts) : 0),
      away_(static_cast<std::size_t>(fabric.hosts)),
      hosts_(fabric.hosts),
      machines_{.machines = std::move(fabric.machines),
                .traffic = std::vector<Traffic>(static_cast<std::size_t>(fabric.hosts))},
      overhead_(transport.overhead),
      receive_cost_(transport.receive_cost),
      slow_start_{.first_window = transport.first_window},
      impairments_(Impairments::make(fabric.links, transport.flow, random)),
      by_events_(transport.by_events || transport.receive_cost > Duration::zero()) {
    make_cables(fabric);
    const auto payload = [](const Link& link) { return (1 - link.loss) * link.efficiency; };
    if (std::ranges::any_of(fabric.links, [&](const Link& link) { return payload(link) != 1; })) {
        payloads_.resize(fabric.links.size());
        std::ranges::transform(fabric.links, payloads_.begin(), payload);
    }
    links_.resize(fabric.links.size());
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const Link& link = fabric.links[i];
        links_[i].latency = link.latency;
        links_[i].unlimited = link.bandwidth == unlimited;
        has_unlimited_ |= links_[i].unlimited;
        set_capacity(static_cast<LinkId>(i), link.bandwidth);
    }
    prepares_ = overhead_ > Duration::zero() || slow_start_.first_window > Bytes{0};
}

void Network::make_cables(const Fabric& fabric) {
    const auto depends = [&](std::size_t link) {
        return fabric.links[link].duplex_share < 1 && fabric.back[link] != no_link;
    };
    std::size_t first = 0;
    while (first < fabric.back.size() && !depends(first)) ++first;
    if (first == fabric.back.size()) return;
    cables_.resize(fabric.links.size());
    for (std::size_t i = first; i < fabric.back.size(); ++i)
        if (depends(i))
            cables_[i] = {.back = fabric.back[i], .duplex_share = fabric.links[i].duplex_share};
}

MessageId Network::send(int from, int to, Stream stream, Bytes size, Protocol protocol,
                        Join& drained, const MessageCost& cost) {
    PACELINE_CHECK(from != to && from >= 0 && to >= 0 && from < hosts_ && to < hosts_,
                   "a message goes from one host to another");
    PACELINE_CHECK(size >= Bytes{0}, "a message has a size of 0 or more");
    PACELINE_CHECK(!is_away(from), "a host that is away sends nothing");
    if (reservations_.active > 0) reservations_.reserver->touch_lane(to, stream);
    const Index index = new_message(from, to, stream, size, protocol);
    Flow& flow = flows_[index];
    flow.drained = &drained;
    const bool apart = machines_.are_apart(from, to);
    flow.latency = cost.occupies.of(apart);
    flow.delay = cost.delays.of(apart);
    const LaneTable::Index lane = flow.lane;
    const MessageId id{index, flow.generation};
    if (lanes_[lane].undrained == index) {
        start_first(lane);
        lanes_.remove_if_idle(lane);  // if the message is stranded
    }
    return id;
}

// Puts a new message into its lane.
Network::Index Network::new_message(int from, int to, Stream stream, Bytes size,
                                    Protocol protocol) {
    const Index index = free_flows_.empty() ? add_flow() : free_flows_.back();
    if (!free_flows_.empty()) free_flows_.pop_back();
    const LaneTable::Index lane = lanes_.find_or_add(to, from, stream);
    Flow& flow = flows_[index];
    flow.lane = lane;
    flow.from = from;
    flow.to = to;
    flow.size = size;
    flow.rate = 0;
    flow.state = State::queued;
    flow.fate = is_away(to) ? Fate::discarded : Fate::kept;
    flow.protocol = protocol;
    flow.drained = nullptr;
    flow.kind = simulation_.running_kind();
    flow.grouped = false;
    flow.latency = flow.delay = {};
    lanes_.push(lane, index);
    return index;
}

void Network::receive(int to, int from, Stream stream, Join& delivered, Protocol protocol) {
    const LaneTable::Index index = lanes_.find_or_add(to, from, stream);
    Lane& lane = lanes_[index];
    lane.receive(delivered);
    if (lane.waiting == 0) return lanes_.remove_if_idle(index);
    if (protocol == Protocol::rendezvous_in_band) return clear(index);
    const Index first = lane.undrained;
    if (first != Lane::none && flows_[first].state == State::held && lane.has_receiver())
        set_out(first);
}

void Network::withdraw(int to, int from, Stream stream, Join& delivered) {
    const LaneTable::Index lane = lanes_.find(to, from, stream);
    if (lane == LaneTable::none) return;
    lanes_[lane].withdraw(delivered);
    lanes_.remove_if_idle(lane);
}

bool Network::has_arrived(int to, int from, Stream stream) const {
    const LaneTable::Index lane = lanes_.find(to, from, stream);
    return lane != LaneTable::none && lanes_[lane].arrived > 0;
}

void Network::forget(MessageId message) {
    Flow& flow = flows_[message.index];
    if (flow.generation != message.generation) return;
    flow.drained = nullptr;
    if (flow.state == State::stranded) release(message.index);
}

double Network::rate(MessageId message) const {
    const Flow& flow = flows_[message.index];
    return flow.generation == message.generation ? flow.rate : 0;
}

Network::Index Network::add_flow() {
    flows_.emplace_back();
    paths_.add_flow();
    free_flows_.reserve(flows_.capacity());
    return static_cast<Index>(flows_.size() - 1);
}

void Network::release(Index index) {
    Flow& flow = flows_[index];
    flow.state = State::free;
    flow.rate = 0;
    ++flow.generation;
    free_flows_.push_back(index);
}

// Lets the first message of a lane that has not drained set out, if its protocol allows it.
void Network::start_first(LaneTable::Index lane) {
    while (lanes_[lane].undrained != Lane::none) {
        const Index index = lanes_[lane].undrained;
        Flow& flow = flows_[index];
        if (flow.protocol != Protocol::eager) {
            if (flow.fate != Fate::kept) {
                strand(index);
                continue;  // with the one behind it
            }
            const bool in_band = flow.protocol == Protocol::rendezvous_in_band;
            if (in_band ? lanes_[lane].cleared == 0 : !lanes_[lane].has_receiver()) {
                flow.state = State::held;
                return;
            }
            if (in_band) --lanes_[lane].cleared;
        }
        return set_out(index);
    }
}

// A receiver waits on the lane: its clearance leaves, or waits for what it has set out itself.
void Network::clear(LaneTable::Index index) {
    Lane& lane = lanes_[index];
    const LaneTable::Index back = lanes_.find(lane.from, lane.to, lane.stream);
    const Index first = back == LaneTable::none ? Lane::none : lanes_[back].undrained;
    if (first != Lane::none && flows_[first].state >= State::preparing) {
        ++lane.owed;
        return;
    }
    send_clearance(lane);
}

void Network::send_clearance(const Lane& lane) {
    auto index = static_cast<Index>(clearances_.size());
    if (free_clearances_.empty()) {
        clearances_.emplace_back();
    } else {
        index = free_clearances_.back();
        free_clearances_.pop_back();
    }
    clearances_[index] = {lane.stream, lane.from, lane.to};
    Duration latency{};
    for (const LinkId link : route(lane.to, lane.from))
        latency = sum(latency, links_[link].latency);
    simulation_.at(later(simulation_.now(), latency),
                   action<&Network::clearance_arrives>(*this, index), simulation_.running_kind());
}

void Network::clearance_arrives(Index index) {
    const Clearance clearance = clearances_[index];
    free_clearances_.push_back(index);
    const LaneTable::Index lane = lanes_.find(clearance.to, clearance.from, clearance.stream);
    if (lane == LaneTable::none || lanes_[lane].waiting == 0) return;
    ++lanes_[lane].cleared;
    const Index first = lanes_[lane].undrained;
    if (first != Lane::none && flows_[first].state == State::held) start_first(lane);
}

void Network::send_owed_clearances(const Flow& drained) {
    const LaneTable::Index lane =
        lanes_.find(drained.from, drained.to, lanes_[drained.lane].stream);
    if (lane == LaneTable::none) return;
    for (; lanes_[lane].owed > 0; --lanes_[lane].owed) send_clearance(lanes_[lane]);
}

// Takes a message out of its lane that waits for a receiver who never comes.
void Network::strand(Index index) {
    Flow& flow = flows_[index];
    lanes_.remove_messages(flow.lane, [index](Index message) { return message == index; });
    flow.lane = LaneTable::none;
    flow.state = State::stranded;
    if (flow.drained == nullptr) release(index);
}

// The message may flow once its sender has spent the overhead on it, and its connection its cost.
// Inside a machine, there is neither overhead nor slow start.
void Network::set_out(Index index) {
    if (overhead_ > Duration::zero()) reservations_.touch_host(flows_[index].from);
    Flow& flow = flows_[index];
    if (flow.fate == Fate::kept) ++lanes_[flow.lane].under_way;
    const bool prepares = prepares_ && machines_.are_apart(flow.from, flow.to);
    if (!prepares && flow.latency == Duration::zero()) return start(index);
    flow.since = simulation_.now();
    if (prepares && overhead_ > Duration::zero()) {
        Time& free = sender_free_[static_cast<std::size_t>(flow.from)];
        free = flow.since = later(std::max(free, flow.since), overhead_);
    }
    if (prepares) flow.latency = sum(flow.latency, slow_start(flow));
    const Time begin = later(flow.since, flow.latency);
    if (begin == simulation_.now()) return start(index);
    flow.state = State::preparing;
    flow.event = simulation_.at(begin, action<&Network::start>(*this, index), flow.kind,
                                key(EventRank::begins, flow));
}

// Returns the time that a message loses to slow start: only the first of a connection loses any.
Duration Network::slow_start(const Flow& flow) {
    if (slow_start_.first_window == Bytes{0} || !open_connection(slow_start_, flow.from, flow.to))
        return {};
    Bandwidth slowest{std::numeric_limits<std::int64_t>::max()};
    Duration round_trip{};
    for (const LinkId link : route(flow.from, flow.to)) {
        slowest = std::min(slowest, links_[link].capacity);
        round_trip = sum(round_trip, multiple(2, links_[link].latency));
    }
    return lost_to_windows(slow_start_.first_window, flow.size, slowest, round_trip);
}

// A flow is about to use the links of its route. What is called may move all flows.
void Network::touch_route(const Flow& flow) {
    for (const LinkId link : route(flow.from, flow.to)) reservations_.touch(link);
}

void Network::start(Index index) {
    if (reservations_.active > 0) touch_route(flows_[index]);
    Flow& flow = flows_[index];
    flow.since = simulation_.now();
    find_route(index);
    if (observer_ != nullptr) report_begin(index);
    if (flow.route.empty()) {
        flow.state = State::draining;
        simulation_.at(flow.since, action<&Network::drain>(*this, index), flow.kind,
                       key(EventRank::drains, flow));
        return;
    }
    enter_links(index);
    started_.push_back(index);
    request_rates();
}

// Finds the links of a message that has not moved yet, and its latency.
void Network::find_route(Index index) {
    Flow& flow = flows_[index];
    flow.remaining = static_cast<double>(flow.size.count);
    find_route_(flow.from, flow.to, flow.route);
    flow.latency = flow.delay;
    for (const LinkId link : flow.route) flow.latency = sum(flow.latency, links_[link].latency);
    if (impairments_)
        flow.latency =
            sum(flow.latency,
                impairments_->begin(index, flow.route, machines_.are_apart(flow.from, flow.to)));
    if (flow.size == Bytes{0}) flow.route.clear();
    if (has_unlimited_) remove_unlimited_links(flow.route);
}

void Network::remove_unlimited_links(Route& route) const {
    const auto rest =
        std::ranges::remove_if(route, [this](LinkId link) { return links_[link].unlimited; });
    route.erase(rest.begin(), rest.end());
}

void Network::report_begin(Index index) const {
    const Flow& flow = flows_[index];
    const NetworkObserver::Message message{.from = flow.from,
                                           .to = flow.to,
                                           .stream = lanes_[flow.lane].stream,
                                           .size = flow.size,
                                           .latency = flow.latency,
                                           .route = flow.route,
                                           .since = flow.since};
    notify(observer_->begins, index, message);
}

void Network::drain(Index index) {
    Flow& flow = flows_[index];
    if (on_links(flow.state)) leave_links(index);
    flow.state = State::crossing;
    flow.rate = 0;
    if (observer_ != nullptr) notify(observer_->drains, index, flow.size);
    machines_.count_sent(flow.from, flow.to, flow.size);
    if (flow.drained != nullptr) std::exchange(flow.drained, nullptr)->arrive();
    Time arrival = later(simulation_.now(), flow.latency);
    if (impairments_) arrival = impairments_->in_order(flow.lane, arrival);
    const bool is_taken_in =
        receive_cost_ > Duration::zero() && machines_.are_apart(flow.from, flow.to);
    simulation_.at(arrival,
                   is_taken_in ? action<&Network::arrive>(*this, index)
                               : action<&Network::deliver>(*this, index),
                   flow.kind, key(EventRank::arrives, flow));
    lanes_.drain(flow.lane);
    if (flow.protocol == Protocol::rendezvous_in_band) send_owed_clearances(flow);
    start_first(flow.lane);
}

// The receiver takes in one message after another. Nobody takes in what is lost or discarded.
void Network::arrive(Index index) {
    const Flow& flow = flows_[index];
    if (flow.fate != Fate::kept) return deliver(index);
    Time& free = receiver_free_[static_cast<std::size_t>(flow.to)];
    free = later(std::max(free, simulation_.now()), receive_cost_);
    simulation_.at(free, action<&Network::deliver>(*this, index), flow.kind,
                   key(EventRank::arrives, flow));
}

void Network::deliver(Index index) {
    const Flow& flow = flows_[index];
    if (observer_ != nullptr) notify(observer_->arrives, index, flow.fate == Fate::lost);
    if (flow.fate != Fate::lost) {
        ++delivered_;
        machines_.count_received(flow.from, flow.to, flow.size);
    }
    // At one picosecond, an eager message comes before one by rendezvous that has left before it.
    if (lanes_[flow.lane].oldest == index)
        lanes_.arrive(flow.lane);
    else
        lanes_.remove_messages(flow.lane, [index](Index message) { return message == index; });
    if (flow.fate == Fate::kept) lanes_[flow.lane].deliver();
    lanes_.remove_if_idle(flow.lane);
    release(index);
}

}  // namespace paceline
