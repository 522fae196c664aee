// Links and the rates of the flows on them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/network/network.hpp"

namespace paceline {

namespace {

// Rounds up to at least 1 bit per second, so that a link that is up never gets rate 0.
Bandwidth at_least_one_bit(Bandwidth share, Bandwidth whole) {
    return std::max(share, std::min(whole, Bandwidth{1}));
}

}  // namespace

void Network::set_capacity(LinkId link, Bandwidth bandwidth) {
    LinkState& state = links_[link];
    const double payload = payloads_.empty() ? 1 : payloads_[link];
    state.capacity = at_least_one_bit(payload * bandwidth, bandwidth);
    state.rate = bytes_per_tick(state.capacity);
    if (!has_cables()) return;
    Cable& cable = cables_[link];
    cable.shared = at_least_one_bit(cable.duplex_share * state.capacity, state.capacity);
    cable.shared_rate = bytes_per_tick(cable.shared);
}

void Network::set_bandwidth(LinkId link, Bandwidth bandwidth, Time until) {
    PACELINE_CHECK(bandwidth >= Bandwidth{0}, "a bandwidth is 0 or more");
    PACELINE_CHECK(until >= simulation_.now(), "a change is not announced for the past");
    if (reservations_.active > 0) reservations_.reserver->touch_bandwidth(link);
    LinkState& state = links_[link];
    const bool was_down = is_down(state);
    set_capacity(link, bandwidth);
    if (observer_ != nullptr) notify(observer_->capacity, link, state.capacity);
    if (until != never && announced_.empty()) announced_.assign(links_.size(), never);
    if (!announced_.empty()) announced_[link] = until;
    if (has_cables() && is_down(state) != was_down)
        for (const Index index : state.flows) count_down_link(index, is_down(state));
    if (!state.flows.empty()) mark_changed(state);
}

void Network::lose_flows(LinkId link) {
    reservations_.touch(link);
    LinkState& state = links_[link];
    const Time now = simulation_.now();
    for (const Index index : state.flows) {
        Flow& flow = flows_[index];
        const auto elapsed = static_cast<double>((now - flow.since).count());
        const auto size = static_cast<double>(flow.size.count);
        const double moved = std::min(size, size - flow.remaining + flow.rate * elapsed);
        machines_.count_wasted(flow.from, flow.to, Bytes{std::llround(moved)});
        unschedule(flow);
        flow.remaining = size;
        flow.since = now;
        flow.rate = 0;
        if (observer_ != nullptr) notify(observer_->restarts, index);
    }
    if (!state.flows.empty()) mark_changed(state);
}

// Cancels what a flow on the links waits for.
void Network::unschedule(Flow& flow) {
    if (std::exchange(flow.state, State::still) != State::still) simulation_.cancel(flow.event);
}

void Network::enter_links(Index index) {
    Flow& flow = flows_[index];
    flow.state = State::still;
    flow.places.resize(flow.route.size(), boost::container::default_init);
    for (std::size_t hop = 0; hop < flow.route.size(); ++hop) {
        LinkState& link = links_[flow.route[hop]];
        flow.places[hop] = static_cast<Index>(link.flows.size());
        link.flows.push_back(index);
    }
    paths_.note(index, flow.route);
    ++flowing_;
    flowing_hops_ += flow.route.size();
    if (!has_cables()) return;
    flow.down_links = static_cast<Index>(
        std::ranges::count_if(flow.route, [this](LinkId link) { return is_down(links_[link]); }));
    if (flow.down_links == 0) count_moving(flow, true);
}

// Takes a flow off its links. The last flow in each link's list moves into its position.
void Network::leave_links(Index index) {
    Flow& flow = flows_[index];
    for (std::size_t hop = 0; hop < flow.route.size(); ++hop) {
        LinkState& link = links_[flow.route[hop]];
        const Index place = flow.places[hop];
        const Index moved = link.flows.back();
        link.flows[place] = moved;
        link.flows.pop_back();
        if (has_cables() && flow.down_links == 0 && --cables_[flow.route[hop]].moving == 0)
            mark_reverse_changed(flow.route[hop]);
        if (link.flows.empty()) continue;
        mark_changed(link);
        if (moved == index) continue;
        Flow& other = flows_[moved];
        const auto at = std::ranges::find(other.route, flow.route[hop]) - other.route.begin();
        other.places[static_cast<std::size_t>(at)] = place;
    }
    --flowing_;
    flowing_hops_ -= flow.route.size();
}

// A link of a flow's route has gone down or come up.
void Network::count_down_link(Index index, bool down) {
    Flow& flow = flows_[index];
    const bool moved = flow.down_links == 0;
    flow.down_links += down ? 1 : ~Index{0};
    if (moved || flow.down_links == 0) count_moving(flow, !down);
}

// A flow begins to move, or stops. The first and the last to do so on a link change the capacity of
// the reverse link of its cable.
void Network::count_moving(const Flow& flow, bool moves) {
    for (const LinkId link : flow.route) {
        Index& moving = cables_[link].moving;
        moving += moves ? 1 : ~Index{0};
        if (moving == (moves ? 1 : 0)) mark_reverse_changed(link);
    }
}

void Network::mark_changed(LinkState& link) {
    if (link.dirty) return;
    link.dirty = true;
    dirty_.push_back(static_cast<LinkId>(&link - links_.data()));
    request_rates();
}

void Network::mark_reverse_changed(LinkId link) {
    const LinkId back = cables_[link].back;
    if (back != no_link && !links_[back].flows.empty()) mark_changed(links_[back]);
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
        if (!state.flows.empty() && paths_.visit(state.flows.front()).mark != mark_)
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
    flow.event = simulation_.after(flow.size / slowest, action<&Network::drain>(*this, index),
                                   flow.kind, key(EventRank::drains, flow));
    flow.state = State::flowing;
    return no_link;
}

void Network::solve_component(LinkId seed) {
    const Index first = links_[seed].flows.front();
    if (const double rate = rate_alone(first); rate >= 0) {
        paths_.visit(first).mark = mark_;
        return apply_rate(first, rate);
    }
    gather_component(seed);
    const std::span<const double> rates =
        is_component_grouped() ? max_min_.fill_evenly() : max_min_.fill();
    for (std::size_t i = 0; i < rates.size(); ++i) apply_rate(component_flows_[i], rates[i]);
}

// Returns the rate of a flow that shares no link: its bound. Returns -1 if it shares one.
double Network::rate_alone(Index index) const {
    double own = impairments_ ? bytes_per_tick(impairments_->bound(index))
                              : std::numeric_limits<double>::infinity();
    for (const LinkId link : paths_.links(index, flows_[index].route)) {
        if (is_shared(links_[link])) return -1;
        own = std::min(own, rate_now(link));
    }
    return own;
}

// Builds the solver's problem of the flows reachable from one link and the links they share. Links
// that carry only one flow connect nothing and only bound that flow, as loss does. The smallest
// such bound stands for them all. It is left out if a shared link of the flow is no larger, because
// that link then binds first.
void Network::gather_component(LinkId seed) {
    component_links_.clear();
    component_flows_.resize(std::max(component_flows_.size(), flowing_));
    max_min_.clear(links_.size() + flowing_, flowing_, flowing_hops_ + flowing_);
    Index unshared = 0;  // a seed that carries one flow
    visit_link(seed);
    constexpr std::size_t ahead = 8;  // flows whose paths are fetched meanwhile
    for (std::size_t next = 0; next < component_links_.size(); ++next) {
        const LinkState& link = links_[component_links_[next]];
        const std::span<const Index> flows = link.flows;
        const bool large = flows.size() > 4 * ahead;
        Index* place = is_shared(link) ? max_min_.list_flows(link.local) : &unshared;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (large && i + ahead < flows.size()) paths_.prefetch(flows[i + ahead]);
            const Index index = flows[i];
            if (paths_.visit(index).mark != mark_) visit_flow(index);
            *place++ = paths_.visit(index).local;
        }
    }
}

bool Network::is_component_grouped() const {
    return has_groups_ &&
           std::ranges::all_of(std::span(component_flows_).first(max_min_.flows()),
                               [this](Index index) { return flows_[index].grouped; });
}

void Network::visit_link(LinkId link) {
    LinkState& state = links_[link];
    const std::size_t flows = is_shared(state) ? state.flows.size() : 0;
    state.mark = mark_;
    state.local = max_min_.add_link(rate_now(link), static_cast<Index>(flows));
    component_links_.push_back(link);
}

void Network::visit_flow(Index index) {
    const Index local = max_min_.flows();
    paths_.visit(index) = {.mark = mark_, .local = local};
    component_flows_[local] = index;
    constexpr double unbounded = std::numeric_limits<double>::infinity();
    double own = impairments_ ? bytes_per_tick(impairments_->bound(index)) : unbounded;
    const std::span<const LinkId> path = paths_.links(index, flows_[index].route);
    const LinkState* const links = links_.data();
    const Index mark = mark_;
    Index* const first = max_min_.add_flow();
    Index* hop = first;
    for (const LinkId link : path) {
        const LinkState& state = links[link];
        if (!is_shared(state)) {
            own = std::min(own, rate_now(link));
            continue;
        }
        if (state.mark != mark) [[unlikely]]
            visit_link(link);
        *hop++ = state.local;
    }
    max_min_.end_flow(hop);
    if (own == unbounded) return;
    const auto is_no_larger = [&](Index link) { return max_min_.capacity(link) <= own; };
    if (std::none_of(first, hop, is_no_larger)) max_min_.add_bound(own);
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
    unschedule(flow);
    if (rate == 0) return wait_for_links(index);
    const double ticks = std::ceil(flow.remaining / rate);
    const Duration left = ticks < static_cast<double>(Duration::max().count())
                              ? Duration{static_cast<std::int64_t>(ticks)}
                              : Duration::max();
    flow.event = simulation_.after(left, action<&Network::drain>(*this, index), flow.kind,
                                   key(EventRank::drains, flow));
    flow.state = State::flowing;
}

// A flow without a rate checks again at the announced change of the last of its links that are
// down. If one of them has announced none, it may stay down forever, and no check is scheduled.
void Network::wait_for_links(Index index) {
    if (announced_.empty()) return;
    Flow& flow = flows_[index];
    unschedule(flow);
    const Time now = simulation_.now();
    Time at = now;
    for (const LinkId link : flow.route)
        if (is_down(links_[link])) at = std::max(at, announced_[link]);
    if (at == never || at == now) return;
    flow.event = simulation_.at(at, action<&Network::recheck_links>(*this, index), flow.kind,
                                key(EventRank::begins, flow));
    flow.state = State::rechecking;
}

void Network::recheck_links(Index index) {
    flows_[index].state = State::still;
    for (const LinkId link : flows_[index].route) mark_changed(links_[link]);
}

}  // namespace paceline
