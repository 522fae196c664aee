#include "sim/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Rounds up to at least 1 bit per second, so that a link that is up never gets rate 0.
Bandwidth at_least_one_bit(Bandwidth share, Bandwidth whole) {
    return std::max(share, std::min(whole, Bandwidth{1}));
}

double bytes_per_tick(Bandwidth rate) {
    return static_cast<double>(rate.bits_per_second) / (8.0 * Duration::period::den);
}

}  // namespace

Network::Network(Simulation& simulation, Fabric fabric, const Transport& transport,
                 const RandomStreams& random)
    : simulation_(simulation),
      mailboxes_(fabric.hosts),
      find_route_(std::move(fabric.find_route)),
      lane_ends_(static_cast<std::size_t>(fabric.hosts), none),
      sender_free_(transport.overhead > Duration::zero() ? static_cast<std::size_t>(fabric.hosts)
                                                         : 0),
      traffic_(static_cast<std::size_t>(fabric.hosts)),
      hosts_(fabric.hosts),
      hosts_per_node_(fabric.hosts_per_node),
      transport_(transport),
      impairments_(Impairments::make(fabric.links, random)) {
    links_.reserve(fabric.links.size());
    for (const Link& link : fabric.links) {
        links_.emplace_back();
        LinkState& state = links_.back();
        state.latency = link.latency;
        state.payload = (1 - link.loss) * link.efficiency;
        state.duplex_share = link.duplex_share;
        set_capacity(state, link.bandwidth);
        state.unlimited = link.bandwidth == unlimited;
        has_unlimited_ |= state.unlimited;
    }
    for (std::size_t i = 0; i < fabric.back.size(); ++i)
        if (links_[i].duplex_share < 1) links_[i].back = fabric.back[i];
}

MessageId Network::send(int from, int to, Stream stream, Bytes size, Protocol protocol,
                        Join& drained) {
    PACELINE_CHECK(from != to && from >= 0 && to >= 0 && from < hosts_ && to < hosts_,
                   "a message goes from one host to another");
    PACELINE_CHECK(size >= Bytes{0}, "a message has a size of 0 or more");
    const Index index = take_flow();
    Flow& flow = flows_[index];
    flow.from = from;
    flow.to = to;
    flow.stream = stream;
    flow.size = size;
    flow.protocol = protocol;
    flow.in_use = true;
    flow.drained = &drained;
    flow.kind = simulation_.running_kind();
    const MessageId id{index, flow.generation};
    if (join_lane(index)) start_if_allowed(index);
    return id;
}

void Network::receive(int to, int from, Stream stream, Join& delivered) {
    const std::optional<Index> held = mailboxes_.receive(to, from, stream, delivered);
    if (held) start_after_overhead(*held);
}

void Network::forget(MessageId message) {
    Flow& flow = flows_[message.index];
    if (flow.generation == message.generation) flow.drained = nullptr;
}

void Network::drop_messages_from(int host) {
    for (Index index = 0; index < flows_.size(); ++index) {
        Flow& flow = flows_[index];
        if (!flow.in_use || flow.from != host) continue;
        flow.lost = true;
        flow.drained = nullptr;
        if (flow.on_links) stop_flow(index);
    }
}

// Takes a flow off the wires. Its size becomes the bytes that have flowed.
void Network::stop_flow(Index index) {
    std::erase(started_, index);
    apply_rate(index, 0);
    Flow& flow = flows_[index];
    if (std::exchange(flow.scheduled, false)) simulation_.cancel(flow.event);
    leave_links(index);
    flow.size = flow.size - Bytes{static_cast<std::int64_t>(std::ceil(flow.remaining))};
    simulation_.at(simulation_.now(), action<&Network::drain>(*this, index));
}

void Network::set_bandwidth(LinkId link, Bandwidth bandwidth, Time until) {
    PACELINE_CHECK(bandwidth >= Bandwidth{0}, "a bandwidth is 0 or more");
    PACELINE_CHECK(until >= simulation_.now(), "a change is not announced for the past");
    LinkState& state = links_[link];
    set_capacity(state, bandwidth);
    if (observer_ != nullptr) notify(observer_->capacity, link, state.capacity);
    if (until != never && announced_.empty()) announced_.assign(links_.size(), never);
    if (!announced_.empty()) announced_[link] = until;
    if (!state.flows.empty()) mark_changed(state);
}

void Network::lose_flows(LinkId link) {
    LinkState& state = links_[link];
    const Time now = simulation_.now();
    for (const Index index : state.flows) {
        Flow& flow = flows_[index];
        const auto elapsed = static_cast<double>((now - flow.since).count());
        const auto size = static_cast<double>(flow.size.count);
        const double moved = std::min(size, size - flow.remaining + flow.rate * elapsed);
        if (leaves_node(flow))
            traffic_[static_cast<std::size_t>(flow.from)].wasted += Bytes{std::llround(moved)};
        if (std::exchange(flow.scheduled, false)) simulation_.cancel(flow.event);
        flow.remaining = size;
        flow.since = now;
        flow.rate = 0;
        if (observer_ != nullptr) notify(observer_->restarts, index);
    }
    if (!state.flows.empty()) mark_changed(state);
}

double Network::rate(MessageId message) const {
    const Flow& flow = flows_[message.index];
    return flow.generation == message.generation ? flow.rate : 0;
}

void Network::set_capacity(LinkState& state, Bandwidth bandwidth) {
    state.capacity = at_least_one_bit(state.payload * bandwidth, bandwidth);
    state.shared = at_least_one_bit(state.duplex_share * state.capacity, state.capacity);
}

Network::Index Network::take_flow() {
    if (free_flow_ == none) {
        flows_.emplace_back();
        return static_cast<Index>(flows_.size() - 1);
    }
    const Index index = free_flow_;
    free_flow_ = std::exchange(flows_[index].behind, none);
    return index;
}

// Appends a message to its lane. Returns whether it is the first in the lane.
bool Network::join_lane(Index index) {
    Flow& flow = flows_[index];
    Index& first = lane_ends_[static_cast<std::size_t>(flow.from)];
    Index end = first;
    while (end != none && (flows_[end].to != flow.to || flows_[end].stream != flow.stream))
        end = flows_[end].tail_next;
    const bool first_of_lane = end == none;
    if (!first_of_lane) {
        flows_[end].behind = index;
        leave_lane(end);
    }
    flow.tail_prev = none;
    flow.tail_next = first;
    if (first != none) flows_[first].tail_prev = index;
    first = index;
    return first_of_lane;
}

void Network::leave_lane(Index index) {
    const Flow& flow = flows_[index];
    (flow.tail_prev == none ? lane_ends_[static_cast<std::size_t>(flow.from)]
                            : flows_[flow.tail_prev].tail_next) = flow.tail_next;
    if (flow.tail_next != none) flows_[flow.tail_next].tail_prev = flow.tail_prev;
}

// The message is first in its lane. It sets out once its protocol allows it.
void Network::start_if_allowed(Index index) {
    const Flow& flow = flows_[index];
    if (flow.protocol == Protocol::eager || flow.lost ||
        mailboxes_.request_rendezvous(flow.to, flow.from, flow.stream, index))
        start_after_overhead(index);
}

// The message may flow once its sender has spent the overhead on it. Inside a machine, there is
// neither overhead nor slow start.
void Network::start_after_overhead(Index index) {
    const Flow& flow = flows_[index];
    if (!leaves_node(flow)) return start(index);
    Time begin = simulation_.now();
    if (transport_.overhead > Duration::zero()) {
        Time& free = sender_free_[static_cast<std::size_t>(flow.from)];
        free = begin = later(std::max(free, begin), transport_.overhead);
    }
    if (transport_.first_window > Bytes{0}) begin = later(begin, slow_start(flow));
    if (begin == simulation_.now()) return start(index);
    simulation_.at(begin, action<&Network::start>(*this, index), flow.kind);
}

// Returns the time that the first message of a connection loses to its growing windows.
Duration Network::slow_start(const Flow& flow) {
    const auto pair = (std::uint64_t{static_cast<std::uint32_t>(flow.from)} << 32U) |
                      static_cast<std::uint32_t>(flow.to);
    if (!connections_.insert(pair).second) return {};
    Route route;
    find_route_(flow.from, flow.to, route);
    Bandwidth slowest{std::numeric_limits<std::int64_t>::max()};
    Duration round_trip{};
    for (const LinkId link : route) {
        slowest = std::min(slowest, links_[link].capacity);
        round_trip = sum(round_trip, multiple(2, links_[link].latency));
    }
    if (slowest.bits_per_second == 0) return {};
    Duration lost{};
    Bytes window = transport_.first_window;
    for (Bytes sent; sent + window < flow.size && window / slowest < round_trip;
         window = 2 * window) {
        lost = sum(lost, round_trip - window / slowest);
        sent += window;
    }
    return lost;
}

void Network::start(Index index) {
    Flow& flow = flows_[index];
    if (flow.lost) flow.size = {};
    flow.since = simulation_.now();
    flow.remaining = static_cast<double>(flow.size.count);
    flow.rate = 0;
    find_route_(flow.from, flow.to, flow.route);
    flow.latency = Duration::zero();
    for (const LinkId link : flow.route) flow.latency = sum(flow.latency, links_[link].latency);
    if (impairments_) flow.latency = sum(flow.latency, impairments_->begin(index, flow.route));
    if (flow.size == Bytes{0}) flow.route.clear();
    if (has_unlimited_) remove_unlimited_links(flow.route);
    if (observer_ != nullptr) report_begin(index);
    if (flow.route.empty()) {
        simulation_.at(flow.since, action<&Network::drain>(*this, index), flow.kind);
        return;
    }
    enter_links(index);
    started_.push_back(index);
    request_rates();
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
                                           .stream = flow.stream,
                                           .size = flow.size,
                                           .latency = flow.latency,
                                           .route = flow.route};
    notify(observer_->begins, index, message);
}

void Network::drain(Index index) {
    if (flows_[index].on_links) leave_links(index);
    Flow& flow = flows_[index];
    flow.scheduled = false;
    flow.rate = 0;
    if (observer_ != nullptr) notify(observer_->drains, index, flow.size);
    if (leaves_node(flow)) traffic_[static_cast<std::size_t>(flow.from)].sent += flow.size;
    if (flow.drained != nullptr) std::exchange(flow.drained, nullptr)->arrive();
    Time arrival = later(simulation_.now(), flow.latency);
    if (impairments_) arrival = impairments_->in_order({flow.from, flow.to, flow.stream}, arrival);
    simulation_.at(arrival, action<&Network::deliver>(*this, index), flow.kind);
    if (flow.behind == none)
        leave_lane(index);
    else
        start_if_allowed(std::exchange(flow.behind, none));
}

void Network::deliver(Index index) {
    Flow& flow = flows_[index];
    if (observer_ != nullptr) notify(observer_->arrives, index, flow.lost);
    if (impairments_) impairments_->arrived({flow.from, flow.to, flow.stream}, simulation_.now());
    if (!std::exchange(flow.lost, false)) {
        ++delivered_;
        if (leaves_node(flow)) traffic_[static_cast<std::size_t>(flow.to)].received += flow.size;
        mailboxes_.deliver(flow.to, flow.from, flow.stream);
    }
    flow.in_use = false;
    ++flow.generation;
    flow.behind = std::exchange(free_flow_, index);
}

void Network::enter_links(Index index) {
    Flow& flow = flows_[index];
    flow.places.clear();
    for (const LinkId link : flow.route) {
        LinkState& state = links_[link];
        flow.places.push_back(static_cast<Index>(state.flows.size()));
        state.flows.push_back(index);
        if (state.flows.size() == 1) mark_reverse_changed(state);
    }
    flow.on_links = true;
    ++flowing_;
}

// Takes a flow off its links. The last flow in each link's list moves into its position.
void Network::leave_links(Index index) {
    Flow& flow = flows_[index];
    flow.on_links = false;
    for (std::size_t hop = 0; hop < flow.route.size(); ++hop) {
        LinkState& link = links_[flow.route[hop]];
        const Index place = flow.places[hop];
        const Index moved = link.flows.back();
        link.flows[place] = moved;
        link.flows.pop_back();
        if (link.flows.empty()) {
            mark_reverse_changed(link);
            continue;
        }
        mark_changed(link);
        if (moved == index) continue;
        Flow& other = flows_[moved];
        const auto at = std::ranges::find(other.route, flow.route[hop]) - other.route.begin();
        other.places[static_cast<std::size_t>(at)] = place;
    }
    --flowing_;
}

void Network::mark_changed(LinkState& link) {
    if (link.dirty) return;
    link.dirty = true;
    dirty_.push_back(static_cast<LinkId>(&link - links_.data()));
    request_rates();
}

// A link that becomes busy or idle changes the capacity of the reverse link of its cable.
void Network::mark_reverse_changed(const LinkState& link) {
    if (link.back != no_link && !links_[link.back].flows.empty()) mark_changed(links_[link.back]);
}

void Network::request_rates() {
    if (std::exchange(rates_requested_, true)) return;
    simulation_.at_end_of_instant(action<&Network::set_rates>(*this));
}

// Sets the rates of everything that has changed in this instant, at its end.
void Network::set_rates(Index /*unused*/) {
    for (const Index index : started_)
        if (const LinkId shared = start_alone(index); shared != no_link)
            mark_changed(links_[shared]);
    started_.clear();

    ++mark_;
    for (const LinkId link : dirty_) {
        LinkState& state = links_[link];
        state.dirty = false;
        if (!state.flows.empty() && flows_[state.flows.front()].mark != mark_)
            solve_component(link);
    }
    dirty_.clear();
    rates_requested_ = false;  // only now: what changed above already has its rates
}

// Rates a flow that shares no link, in integers: the smallest capacity of its route. If it shares a
// link, returns that link; its component is then solved from there.
LinkId Network::start_alone(Index index) {
    Flow& flow = flows_[index];
    Bandwidth slowest{std::numeric_limits<std::int64_t>::max()};
    for (const LinkId link : flow.route) {
        if (links_[link].flows.size() != 1) return link;
        slowest = std::min(slowest, capacity_now(link));
    }
    if (slowest.bits_per_second == 0) {
        wait_for_links(index);
        return no_link;
    }
    if (impairments_) slowest = std::min(slowest, impairments_->bound(index));
    flow.rate = bytes_per_tick(slowest);
    if (observer_ != nullptr) notify(observer_->rate, index, flow.rate);
    flow.event =
        simulation_.after(flow.size / slowest, action<&Network::drain>(*this, index), flow.kind);
    flow.scheduled = true;
    return no_link;
}

void Network::solve_component(LinkId seed) {
    gather_component(seed);
    const std::span<const double> rates = max_min_.solve(capacity_, first_hop_, hops_);
    for (std::size_t i = 0; i < component_flows_.size(); ++i)
        apply_rate(component_flows_[i], rates[i]);
}

// Collects the flows reachable from one link and the links they share, renumbered for the solver.
// Links that carry only one flow connect nothing and only bound that flow, as loss does. The
// smallest such bound stands for them all. It is left out if a shared link of the flow is no
// larger, because that link then binds first.
void Network::gather_component(LinkId seed) {
    component_links_.clear();
    component_flows_.clear();
    capacity_.clear();
    first_hop_.assign(1, 0);
    hops_.clear();
    visit_link(seed);
    for (std::size_t next = 0; next < component_links_.size(); ++next)
        for (const Index index : links_[component_links_[next]].flows)
            if (flows_[index].mark != mark_) visit_flow(index);
}

void Network::visit_link(LinkId link) {
    links_[link].mark = mark_;
    links_[link].local = static_cast<Index>(capacity_.size());
    component_links_.push_back(link);
    capacity_.push_back(bytes_per_tick(capacity_now(link)));
}

void Network::visit_flow(Index index) {
    Flow& flow = flows_[index];
    flow.mark = mark_;
    component_flows_.push_back(index);
    Bandwidth own = impairments_ ? impairments_->bound(index)
                                 : Bandwidth{std::numeric_limits<std::int64_t>::max()};
    double shared = std::numeric_limits<double>::infinity();
    for (const LinkId link : flow.route) {
        const LinkState& state = links_[link];
        if (state.flows.size() == 1) {
            own = std::min(own, capacity_now(link));
            continue;
        }
        if (state.mark != mark_) visit_link(link);
        shared = std::min(shared, capacity_[state.local]);
        hops_.push_back(state.local);
    }
    if (const double bound = bytes_per_tick(own); bound < shared) {
        hops_.push_back(static_cast<Index>(capacity_.size()));
        capacity_.push_back(bound);
    }
    first_hop_.push_back(static_cast<Index>(hops_.size()));
}

// Accounts for what has flowed at the old rate and schedules the drain at the new one.
void Network::apply_rate(Index index, double rate) {
    Flow& flow = flows_[index];
    if (flow.rate == rate) {
        if (rate == 0) wait_for_links(index);
        return;
    }
    const Time now = simulation_.now();
    const auto elapsed = static_cast<double>((now - flow.since).count());
    flow.remaining = std::max(0.0, flow.remaining - flow.rate * elapsed);
    flow.since = now;
    flow.rate = rate;
    if (observer_ != nullptr) notify(observer_->rate, index, rate);
    if (std::exchange(flow.scheduled, false)) simulation_.cancel(flow.event);
    if (rate == 0) return wait_for_links(index);
    const double ticks = std::ceil(flow.remaining / rate);
    const Duration left = ticks < static_cast<double>(Duration::max().count())
                              ? Duration{static_cast<std::int64_t>(ticks)}
                              : Duration::max();
    flow.event = simulation_.after(left, action<&Network::drain>(*this, index), flow.kind);
    flow.scheduled = true;
}

// A flow without a rate checks again at the announced change of the last of its links that are
// down. If one of them has announced none, it may stay down forever, and no check is scheduled.
void Network::wait_for_links(Index index) {
    if (announced_.empty()) return;
    Flow& flow = flows_[index];
    if (std::exchange(flow.scheduled, false)) simulation_.cancel(flow.event);
    const Time now = simulation_.now();
    Time at = now;
    for (const LinkId link : flow.route)
        if (links_[link].capacity.bits_per_second == 0) at = std::max(at, announced_[link]);
    if (at == never || at == now) return;
    flow.event = simulation_.at(at, action<&Network::recheck_links>(*this, index), flow.kind);
    flow.scheduled = true;
}

void Network::recheck_links(Index index) {
    flows_[index].scheduled = false;
    for (const LinkId link : flows_[index].route) mark_changed(links_[link]);
}

}  // namespace paceline
