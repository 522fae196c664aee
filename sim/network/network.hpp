// Messages on the wires: a fluid model in which flows share links max-min fairly.
//
// A message of S bytes over route R, alone,
//     drains after                        S / min over R of (bandwidth x efficiency), and
//     is delivered after a further        sum over R of latency (cut-through, paid once).
// When it shares links, its rate is its max-min share (sim/network/max_min.hpp). That share changes
// whenever a flow of its connected component starts or drains, or a link of the component changes.
//
//   - Draining frees the links and notifies the sender; delivery notifies the receiver. A lane
//     (source, destination, stream) has one flow at a time, and its messages never overtake each
//     other (sim/network/lanes.hpp).
//   - An eager message sets out when it is sent. A rendezvous message also waits until a receiver
//     of its own waits for it, as MPI does with large messages. Collectives use rendezvous, so a
//     rank receives one message at a time.
//   - In band, each receive sends a clearance to the sender: a message without bytes. It leaves
//     when the
//     receiver waits and what the receiver itself has set out towards the sender on this stream has
//     drained, and takes the latency of the route back. A message in band uses up one clearance. A
//     clearance for a receiver that has withdrawn, or whose host has left, is lost.
//   - `overhead` occupies the sender before each message's flow starts; its messages take turns.
//     Neither overhead nor slow start (sim/network/slow_start.hpp) affects messages inside a
//     machine.
//   - While a flow moves on each direction of a cable, a link has `duplex_share` of its capacity. A
//     flow moves unless a link of its route is down.
//   - Rates are set once per instant, after its events and ready coroutines are exhausted, and only
//     for components that changed. A flow that shares no link costs O(route), needs no solve, and
//     is timed in integers.
//   - A flow of rate 0 waits for the links of its route that are down. If each of them has
//     announced its next change, the flow checks again at that time, and so keeps the run alive.
//     Otherwise it has no event, and its waiter is reported when no other event is left.
//   - While a link is down, the bytes that have flowed are kept, or they are lost (lose_flows).
//     Then the flow starts anew and they count as wasted. A drained message is not lost.
//   - Unlimited links are left out of the routes on which messages drain: only their latency
//     counts. They neither lose nor change.
//   - Links may be reserved for messages that the network sees only when something else touches
//     these links (sim/network/reservations.hpp).
//   - Links may jitter and lose (sim/network/impairments.hpp). A message's jitter is drawn when it
//     begins to flow. Loss bounds its rate, and so do the limits of a flow between machines
//     (sim/network/flow_limits.hpp).
//   - Rates are doubles in bytes per picosecond. The time at which a flow drains is rounded up to
//     the tick, once.
//
// States of a message (State below), with what moves it on:
//
//     send -> queued      the message before it in its lane drains
//          -> held        a receiver waits for it (rendezvous only); from here on it has set out
//          -> preparing   its sender's overhead and slow start have passed; from here on it flows
//          -> still, flowing, rechecking    it is on the links, until its last byte has left
//          -> draining    it crosses no link: the same instant
//          -> crossing    its latency has passed: it is delivered
//
// What does not flow yet can be taken back: it vanishes, nobody is notified, and overhead that its
// sender has not spent on it goes to the sender's next messages. What flows, flows to its end.
//
//   - close() takes back the messages of a lane. What flows or has drained is discarded on arrival,
//     and so is what has arrived and was not taken. Later messages and receives begin anew.
//   - host_leaves() ends the life of a host. Messages from it are taken back, its flows stop at
//     once, and none of them is delivered; the bytes that have left it count as sent. Messages to
//     it, also those sent until it returns, are discarded on arrival. A rendezvous message to it
//     that has not set out never does: it is `stranded` until its sender forgets it. What has
//     arrived from it at others stays.
//   - Discarded messages count as sent, delivered and received; lost ones only as sent. So every
//     byte that is sent is either received or lost with its sender.
//
// Memory: O(hosts + links + messages + lanes with something in them), at their peaks; with slow
// start, also O(pairs that have communicated). Once pools are warm, nothing is allocated per
// message. A message costs one lookup of its lane when it is sent and one when it is received.
//
// Limits: there are no packets and no reaction time, so a flow gets its share at once. Flows whose
// links are never up together wait forever. Source of the model: the fluid "CM02" family (Casanova,
// Marchal, 2002). The tests compare it with SimGrid and with closed forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/random.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/flow_limits.hpp"
#include "sim/network/flow_paths.hpp"
#include "sim/network/impairments.hpp"
#include "sim/network/lanes.hpp"
#include "sim/network/machine_traffic.hpp"
#include "sim/network/max_min.hpp"
#include "sim/network/network_observer.hpp"
#include "sim/network/reservations.hpp"
#include "sim/network/slow_start.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

/// Identifies a message until it is delivered or taken back.
struct MessageId {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
};

/// What the protocol adds on the wires between machines; by default nothing.
struct Transport {
    Duration overhead{};      // of the sender, before each of its messages flows
    Duration receive_cost{};  // of the receiver, behind the arrival of each, one after the other
    Bytes first_window{};     // sent by a new connection before its first answer; 0: no slow start
    FlowLimits flow{};        // of each flow
    bool by_events = false;   // no links are reserved, so that each message has its events

    [[nodiscard]] bool costs_hosts() const {
        return overhead > Duration::zero() || receive_cost > Duration::zero();
    }
};

/// When a message sets out: at once; once its receiver waits for it, which the sender knows at no
/// cost; or once the receiver's clearance has come back on the same connection.
enum class Protocol : std::uint8_t { eager, rendezvous, rendezvous_in_band };

/// A rendezvous message that has set out over reserved links and has not been delivered.
struct MessageUnderWay {
    int from = 0;
    int to = 0;
    Stream stream = 0;
    Bytes size{};
    EventKind kind = EventKind::foreground;
    Wire wire{};
    MessageCost cost{};  // which is in its wire
    Time set_out;
    Time drain;
    Time arrive;
    bool has_drained = false;
    std::optional<FlowProgress> progress{};  // if it shares links
    bool grouped = false;                    // as Network::group says
};

class Network {
  public:
    /// Jitter of links is drawn from streams of `random`.
    Network(Simulation& simulation, Fabric fabric, const Transport& transport = {},
            const RandomStreams& random = RandomStreams(1));
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Sends `size` bytes. `drained` is notified when the message has left the links. What a daemon
    /// sends does not keep the run alive. Requires from != to, and that `drained` lives until then
    /// or is forgotten with forget().
    MessageId send(int from, int to, Stream stream, Bytes size, Protocol protocol, Join& drained,
                   const MessageCost& cost = {});

    /// The message belongs to a group that sets out together. Of groups that meet no other
    /// messages, rates that are equal are so to the bit. Requires that the message has just been
    /// sent.
    void group(MessageId message) {
        flows_[message.index].grouped = true;
        has_groups_ = true;
    }

    /// Detaches the sender's `drained`. The message continues, unless it is stranded.
    void forget(MessageId message);

    /// Notifies `delivered` of the next message of the lane. `protocol` is that of the message.
    void receive(int to, int from, Stream stream, Join& delivered,
                 Protocol protocol = Protocol::eager);
    /// Removes `delivered` from the lane's receivers; no effect if it does not wait there.
    void withdraw(int to, int from, Stream stream, Join& delivered);

    /// Returns whether a message of the lane has arrived and has not been taken.
    [[nodiscard]] bool has_arrived(int to, int from, Stream stream) const;

    /// Closes all lanes of a stream among some hosts, given in increasing order and counted from
    /// `first`: takes back what does not flow yet, and discards the rest. A lane is gone once
    /// nothing of it is in flight. Requires that no receiver waits on these lanes and that no
    /// sender listens. Costs O(lanes with something in them + their messages).
    void close(Stream stream, std::span<const int> hosts, int first = 0);
    /// Closes one lane.
    void close_lane(int to, int from, Stream stream);

    /// Ends the life of a host: see above. Detaches its senders. Requires that the host is not
    /// away, and that no receiver waits at it. Costs as much as close().
    void host_leaves(int host);
    /// Begins a new life of a host: messages sent to it from now on are delivered. Requires that it
    /// is away.
    void host_returns(int host);
    [[nodiscard]] bool is_away(int host) const {
        return away_[static_cast<std::size_t>(host)] != 0;
    }

    /// Changes a link's bandwidth, also for the flows it carries; 0 takes the link down. `until`
    /// announces the next change: the caller must call again at that time. Changes are daemon
    /// events; a flow that waits for one is not.
    void set_bandwidth(LinkId link, Bandwidth bandwidth, Time until = never);

    /// Discards what the flows on a link have moved so far. They start anew at their source.
    void lose_flows(LinkId link);

    /// Has all reserved links given back, so that traffic is that of this instant. Returns whether
    /// any were reserved: then there may be more to run.
    bool settle() {
        const bool any = reservations_.active > 0;
        if (any) reservations().reserver->touch_all();
        return any;
    }
    /// Makes the traffic of one host that of this instant.
    void settle(int host) { reservations().touch_host(host); }

    /// Reports messages to `observer` from now on (null: to none). It must outlive the run.
    void observe(const NetworkObserver* observer) {
        settle();
        observer_ = observer;
    }

    [[nodiscard]] Simulation& simulation() const { return simulation_; }
    [[nodiscard]] const MachineSizes& machines() const { return machines_.machines; }
    /// Number of links, and the rate available to payload on each at present.
    [[nodiscard]] std::size_t links() const { return links_.size(); }
    [[nodiscard]] Bandwidth capacity(LinkId link) const { return links_[link].capacity; }
    /// Returns the route of a message. Requires from != to.
    [[nodiscard]] Route route(int from, int to) const {
        Route route;
        find_route_(from, to, route);
        return route;
    }
    /// Returns the function that replaces `route` by it; allocates nothing where it fits.
    [[nodiscard]] const std::function<void(int from, int to, Route& route)>& find_route() const {
        return find_route_;
    }
    [[nodiscard]] int hosts() const { return hosts_; }
    /// Traffic over reserved links may be counted late; settle() makes it exact.
    [[nodiscard]] const Traffic& traffic(int host) const { return machines_.of(host); }
    [[nodiscard]] std::size_t flows_in_flight() const { return flowing_; }
    /// Number of messages that have been sent, and neither delivered nor taken back.
    [[nodiscard]] std::size_t messages() const { return flows_.size() - free_flows_.size(); }
    /// Number of lanes with something in them.
    [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
    [[nodiscard]] std::uint64_t messages_delivered() const { return delivered_; }
    /// Returns the current rate in bytes per picosecond; 0 if the message waits, has drained or is
    /// unknown.
    [[nodiscard]] double rate(MessageId message) const;

    // --- for messages over reserved links (sim/network/reservations.hpp): network_reserved.cpp ---

    [[nodiscard]] Reservations& reservations() { return reservations_; }
    /// Returns whether messages that have their links to themselves do what their wires say, and no
    /// observer wants each of them.
    [[nodiscard]] bool follows_wires() const;
    /// Returns whether the host is there and has spent its overhead, and these links are up and
    /// carry no flow.
    [[nodiscard]] bool is_idle(int host, std::span<const LinkId> links) const;
    [[nodiscard]] bool is_unlimited(LinkId link) const { return links_[link].unlimited; }
    /// Returns the wire of a route from one host to another.
    [[nodiscard]] Wire wire(int from, int to, const Route& route) const;
    /// Returns whether a route's wire is that of its two halves, joined.
    [[nodiscard]] bool has_half_wires() const {
        return machines_.machines.one_each() && impairments_ == nullptr;
    }
    [[nodiscard]] Wire half_wire(std::span<const LinkId> links) const;
    /// Counts messages that a host has exchanged: bytes to and from other machines, and how many it
    /// has received.
    void count(int host, Bytes sent, Bytes received, std::int64_t messages);
    /// Returns whether the observer wants sums (NetworkObserver::carries).
    [[nodiscard]] bool reports_sums() const { return observer_ != nullptr && observer_->carries; }
    /// Reports a sum. Removes unlimited links from `route`.
    void report_sum(Route& route, Bytes bytes, Duration busy) const;
    /// Continues a message as it is now, as if send() and receive() had been called for it in time.
    /// `drained` is null if it has drained.
    MessageId adopt(const MessageUnderWay& message, Join* drained, Join& delivered);
    /// Sets the kind of the events of a message that has not set out.
    void set_kind(MessageId message, EventKind kind) { flows_[message.index].kind = kind; }

  private:
    using Index = std::uint32_t;
    static constexpr Index none = ~Index{0};
    static constexpr LinkId no_link = ~LinkId{0};

    enum class State : std::uint8_t {
        free,
        queued,      // behind another message of its lane that has not drained
        held,        // first of these in its lane, until a receiver waits for it
        stranded,    // never sets out, and is in no lane: its receiver died
        preparing,   // has set out; `event` begins its flow
        still,       // on the links, without a rate and without an event
        flowing,     // on the links; `event` drains it
        rechecking,  // on the links, without a rate; `event` looks at its links again
        draining,    // off the links; an event of this instant drains it
        crossing,    // drained; an event delivers it
    };
    /// What happens to a message on arrival.
    enum class Fate : std::uint8_t {
        kept,       // it answers a receive
        discarded,  // its lane was closed, or its receiver's host has left
        lost,       // its sender's host has left
    };

    // What a solve reads stands in FlowPaths. Ordered so that a change of its rate reads the first
    // two cache lines of a flow.
    struct alignas(64) Flow {
        Route route;
        double rate = 0;
        Index down_links = 0;  // of its route, if moves are counted; it moves if there are none
        double remaining = 0;  // bytes, at `since`
        Time since;            // while it prepares: when the overhead has been spent
        EventId event;
        State state = State::free;
        Fate fate = Fate::kept;
        Protocol protocol = Protocol::eager;
        EventKind kind = EventKind::foreground;  // of the sender, and so of the flow's events
        bool grouped = false;
        LaneTable::Index lane = LaneTable::none;
        Bytes size;
        Duration latency{};  // until it flows: what its cost and slow start add to the overhead
        Duration delay{};    // of its delivery, beyond the route's latency
        Join* drained = nullptr;
        int from = 0;
        int to = 0;
        Index generation = 0;
        boost::container::small_vector<Index, 4> places;  // its position in each link's list
    };
    // One cache line.
    struct alignas(64) LinkState {
        std::vector<Index> flows;
        double rate = 0;     // `capacity` in bytes per tick
        Bandwidth capacity;  // for payload
        Duration latency{};
        Index mark = 0;   // last solve that visited it
        Index local = 0;  // its number in that solve
        bool dirty = false;
        bool unlimited = false;
    };
    static_assert(sizeof(LinkState) == 64);
    /// What a link has of its capacity while its reverse link is busy.
    struct Cable {
        LinkId back = no_link;  // reverse link, if it matters
        Index moving = 0;       // flows on the link that move
        double duplex_share = 1;
        Bandwidth shared{};      // of the capacity, while the reverse link is busy
        double shared_rate = 0;  // in bytes per tick
    };

    // The life of a message: network.cpp.
    void make_cables(const Fabric& fabric);
    Index add_flow();
    Index new_message(int from, int to, Stream stream, Bytes size, Protocol protocol);
    void release(Index index);
    void start_first(LaneTable::Index lane);
    void set_out(Index index);
    void clear(LaneTable::Index index);
    void send_clearance(const Lane& lane);
    void clearance_arrives(Index index);
    void send_owed_clearances(const Flow& drained);
    void strand(Index index);
    [[nodiscard]] Duration slow_start(const Flow& flow);
    void start(Index index);
    void find_route(Index index);
    void remove_unlimited_links(Route& route) const;
    void report_begin(Index index) const;
    void drain(Index index);
    void arrive(Index index);
    void deliver(Index index);

    // What ends it early: network_lives.cpp.
    static bool has_begun(State state) { return state >= State::still; }
    void close(LaneTable::Index index);
    void abandon(LaneTable::Index index);
    void take_back(Index index);
    void lose_messages_from(int host);
    void lose(Index index);
    void stop_flow(Index index);
    void close_gaps();
    void prepare_earlier(Index index);

    // Links and rates: network_rates.cpp.
    [[nodiscard]] EventKey key(EventRank rank, const Flow& flow) const {
        if (flow.protocol != Protocol::rendezvous) return {};  // equal senders are served in turn
        return {rank, rank == EventRank::arrives ? flow.to : flow.from, lanes_[flow.lane].stream};
    }
    static bool on_links(State state) {
        return state >= State::still && state <= State::rechecking;
    }
    void touch_route(const Flow& flow);
    static bool is_down(const LinkState& link) { return link.capacity.bits_per_second == 0; }
    void set_capacity(LinkId link, Bandwidth bandwidth);
    [[nodiscard]] static bool is_shared(const LinkState& link) { return link.flows.size() > 1; }
    void enter_links(Index index);
    void leave_links(Index index);
    void count_down_link(Index index, bool down);
    void count_moving(const Flow& flow, bool moves);
    void unschedule(Flow& flow);
    void mark_changed(LinkState& link);
    void mark_reverse_changed(LinkId link);
    void request_rates();
    [[nodiscard]] bool is_shared_with_back(LinkId link) const {
        return has_cables() && cables_[link].back != no_link &&
               cables_[cables_[link].back].moving > 0;
    }
    [[nodiscard]] Bandwidth capacity_now(LinkId link) const {
        return is_shared_with_back(link) ? cables_[link].shared : links_[link].capacity;
    }
    [[nodiscard]] double rate_now(LinkId link) const {
        return is_shared_with_back(link) ? cables_[link].shared_rate : links_[link].rate;
    }
    /// Returns whether any link depends on its reverse link, so that moves are counted.
    [[nodiscard]] bool has_cables() const { return !cables_.empty(); }
    void set_rates(Index unused);
    LinkId start_alone(Index index);
    void solve_component(LinkId seed);
    [[nodiscard]] double rate_alone(Index index) const;
    void gather_component(LinkId seed);
    [[nodiscard]] bool is_component_grouped() const;
    void visit_link(LinkId link);
    void visit_flow(Index index);
    void apply_rate(Index index, double rate);
    void wait_for_links(Index index);
    void recheck_links(Index index);

    Simulation& simulation_;
    LaneTable lanes_;
    std::function<void(int, int, Route&)> find_route_;
    std::vector<LinkState> links_;
    std::vector<double> payloads_;  // [link]: share of the bandwidth; empty: all of it
    std::vector<Cable> cables_;     // [link]; empty: no link depends on its reverse link
    std::vector<Flow> flows_;
    std::vector<Index> free_flows_;
    std::vector<Time> sender_free_;    // [host], if there is an overhead
    std::vector<Time> receiver_free_;  // [host], if receiving costs
    std::vector<std::uint8_t> away_;   // [host]: it has left and not returned
    std::vector<int> gaps_;            // senders whose overhead was taken back in this call
    /// A clearance on its way.
    struct Clearance {
        Stream stream = 0;
        int from = 0;  // of the lane that it clears
        int to = 0;
    };
    std::vector<Clearance> clearances_;
    std::vector<Index> free_clearances_;
    std::vector<Index> started_;  // this instant, still without a rate
    std::vector<LinkId> dirty_;   // changed this instant
    int hosts_;
    MachineTraffic machines_;
    Duration overhead_;
    Duration receive_cost_;
    SlowStart slow_start_;
    std::unique_ptr<Impairments> impairments_;  // null: links are ideal
    std::vector<Time> announced_;  // [link]: time of its next change; empty: none announced
    std::size_t flowing_ = 0;
    std::size_t flowing_hops_ = 0;  // of their routes
    std::uint64_t delivered_ = 0;
    const NetworkObserver* observer_ = nullptr;
    Reservations reservations_;
    bool by_events_;
    bool has_unlimited_ = false;    // any link is unlimited
    bool has_groups_ = false;       // any message has been grouped
    bool prepares_ = false;         // there is an overhead or slow start
    bool rates_requested_ = false;  // set_rates is due at the end of this instant

    // Solver scratch: one component.
    MaxMin max_min_;
    Index mark_ = 0;
    std::vector<LinkId> component_links_;
    std::vector<Index> component_flows_;
    FlowPaths paths_;
};

}  // namespace paceline
