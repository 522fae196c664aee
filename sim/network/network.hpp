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
//     other.
//   - An eager message sets out when it is sent. A rendezvous message also waits until a receiver
//     waits for it, as MPI does with large messages. Collectives use rendezvous, so a rank receives
//     one message at a time.
//   - `overhead` occupies the sender before each message's flow starts; its messages take turns.
//     Neither overhead nor slow start affects messages inside a machine.
//   - Slow start: the first message from one host to another begins late, by what its windows w_k =
//     2^k w_0 leave unused, sum over k of (RTT - w_k/C), until a window fills the route (w_k >= RTT
//     C) or the message is through. C is the capacity of the route, RTT twice its latency.
//   - While both directions of a cable are busy, a link has `duplex_share` of its capacity.
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
//   - Links may jitter and lose (sim/network/impairments.hpp). A message's jitter is drawn when it
//     begins to flow, and loss bounds its rate.
//   - Rates are doubles in bytes per picosecond. The time at which a flow drains is rounded up to
//     the tick, once.
//
// Memory: O(hosts + links + messages in flight); with slow start, also O(pairs that have
// communicated). Once pools are warm, nothing is allocated per message, except that jitter needs an
// entry per lane with messages in flight. Limits: there are no packets and no reaction time, so a
// flow gets its share at once. Flows whose links are never up together wait forever. Source of the
// model: the fluid "CM02" family (Casanova, Marchal, 2002). The tests compare it with SimGrid and
// with closed forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "sim/engine/random.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/impairments.hpp"
#include "sim/network/mailboxes.hpp"
#include "sim/network/max_min.hpp"
#include "sim/network/observer.hpp"

namespace paceline {

/// Identifies a message until it is delivered.
struct MessageId {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
};

/// What a host has exchanged with other machines.
struct Traffic {
    Bytes sent;
    Bytes received;
    Bytes wasted{};  // sent bytes that an outage lost, each loss rounded to a byte
};

/// What the protocol adds on the wires between machines; by default nothing.
struct Transport {
    Duration overhead{};   // of the sender, before each of its messages flows
    Bytes first_window{};  // sent by a new connection before its first answer; 0: no slow start
};

/// When a message sets out: at once, or once its receiver waits for it. The handshake itself costs
/// nothing.
enum class Protocol : std::uint8_t { eager, rendezvous };

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
    MessageId send(int from, int to, Stream stream, Bytes size, Protocol protocol, Join& drained);

    /// Marks a host as dead: what it has sent and is not yet delivered never will be. For a message
    /// that is flowing, the bytes that have left the host count as sent.
    void drop_messages_from(int host);

    /// Detaches the sender's `drained`. The message continues.
    void forget(MessageId message);

    /// Notifies `delivered` of the next message of the lane.
    void receive(int to, int from, Stream stream, Join& delivered);
    void withdraw(int to, int from, Stream stream, Join& delivered) {
        mailboxes_.withdraw(to, from, stream, delivered);
    }

    /// Returns whether a message of the lane has arrived and has not been taken.
    [[nodiscard]] bool has_arrived(int to, int from, Stream stream) const {
        return mailboxes_.has_arrived(to, from, stream);
    }

    /// Changes a link's bandwidth, also for the flows it carries; 0 takes the link down. `until`
    /// announces the next change: the caller must call again at that time. Changes are daemon
    /// events; a flow that waits for one is not.
    void set_bandwidth(LinkId link, Bandwidth bandwidth, Time until = never);

    /// Discards what the flows on a link have moved so far. They start anew at their source.
    void lose_flows(LinkId link);

    /// Reports messages to `observer` from now on (null: to none). It must outlive the run.
    void observe(const NetworkObserver* observer) { observer_ = observer; }

    [[nodiscard]] Simulation& simulation() const { return simulation_; }
    [[nodiscard]] int hosts_per_node() const { return hosts_per_node_; }
    /// Number of links, and the rate available to payload on each at present.
    [[nodiscard]] std::size_t links() const { return links_.size(); }
    [[nodiscard]] Bandwidth capacity(LinkId link) const { return links_[link].capacity; }
    /// Returns the route of a message. Requires from != to.
    [[nodiscard]] Route route(int from, int to) const {
        Route route;
        find_route_(from, to, route);
        return route;
    }
    [[nodiscard]] int hosts() const { return hosts_; }
    [[nodiscard]] const Traffic& traffic(int host) const {
        return traffic_[static_cast<std::size_t>(host)];
    }
    [[nodiscard]] std::size_t flows_in_flight() const { return flowing_; }
    [[nodiscard]] std::uint64_t messages_delivered() const { return delivered_; }
    /// Returns the current rate in bytes per picosecond; 0 if the message waits, has drained or is
    /// unknown.
    [[nodiscard]] double rate(MessageId message) const;

  private:
    using Index = std::uint32_t;
    static constexpr Index none = ~Index{0};
    static constexpr LinkId no_link = ~LinkId{0};

    struct Flow {
        Route route;
        boost::container::small_vector<Index, 4> places;  // its position in each link's list
        Bytes size;
        double remaining = 0;  // bytes, at `since`
        double rate = 0;
        Time since;
        Duration latency{};
        EventId event;
        Join* drained = nullptr;
        Stream stream = 0;
        int from = 0;
        int to = 0;
        Index generation = 0;
        Index behind = none;  // next message of the lane; in a free flow, the next free flow
        Index tail_prev = none, tail_next = none;  // neighbors among the sender's lane ends
        Index mark = 0;                            // last solve that visited it
        Protocol protocol = Protocol::eager;
        EventKind kind = EventKind::foreground;  // of the sender, and so of the flow's events
        bool scheduled = false;  // `event` is pending: it drains, or checks its links again
        bool on_links = false;
        bool in_use = false;
        bool lost = false;  // its host has died, so it will not be delivered
    };
    struct LinkState {
        Bandwidth capacity;  // for payload
        Bandwidth shared;    // of that, while the reverse link is busy
        Duration latency{};
        double payload = 1;       // share of the bandwidth
        double duplex_share = 1;  // of the capacity, while the reverse link is busy
        LinkId back = no_link;    // reverse link, if it matters
        std::vector<Index> flows;
        Index mark = 0;   // last solve that visited it
        Index local = 0;  // its number in that solve
        bool dirty = false;
        bool unlimited = false;
    };

    Index take_flow();
    bool join_lane(Index index);
    void leave_lane(Index index);
    void start_if_allowed(Index index);
    void start_after_overhead(Index index);
    void start(Index index);
    void remove_unlimited_links(Route& route) const;
    void report_begin(Index index) const;
    void drain(Index index);
    void deliver(Index index);
    void enter_links(Index index);
    void leave_links(Index index);
    void stop_flow(Index index);
    static void set_capacity(LinkState& state, Bandwidth bandwidth);
    void mark_changed(LinkState& link);
    void mark_reverse_changed(const LinkState& link);
    void request_rates();
    [[nodiscard]] Duration slow_start(const Flow& flow);
    [[nodiscard]] Bandwidth capacity_now(LinkId link) const {
        const LinkState& state = links_[link];
        return state.back == no_link || links_[state.back].flows.empty() ? state.capacity
                                                                         : state.shared;
    }
    [[nodiscard]] bool leaves_node(const Flow& flow) const {
        return hosts_per_node_ == 1 || flow.from / hosts_per_node_ != flow.to / hosts_per_node_;
    }

    void set_rates(Index unused);
    LinkId start_alone(Index index);
    void solve_component(LinkId seed);
    void gather_component(LinkId seed);
    void visit_link(LinkId link);
    void visit_flow(Index index);
    void apply_rate(Index index, double rate);
    void wait_for_links(Index index);
    void recheck_links(Index index);

    Simulation& simulation_;
    Mailboxes mailboxes_;
    std::function<void(int, int, Route&)> find_route_;
    std::vector<LinkState> links_;
    std::vector<Flow> flows_;
    std::vector<Index> lane_ends_;   // [host]: first of its lanes' last undrained messages
    std::vector<Time> sender_free_;  // [host], if there is an overhead
    std::vector<Traffic> traffic_;
    std::vector<Index> started_;  // this instant, still without a rate
    std::vector<LinkId> dirty_;   // changed this instant
    Index free_flow_ = none;
    int hosts_;
    int hosts_per_node_;
    Transport transport_;
    std::unordered_set<std::uint64_t> connections_;  // (from, to) that have sent; never iterated
    std::unique_ptr<Impairments> impairments_;       // null: links are ideal
    std::vector<Time> announced_;  // [link]: time of its next change; empty: none announced
    std::size_t flowing_ = 0;
    std::uint64_t delivered_ = 0;
    const NetworkObserver* observer_ = nullptr;
    bool has_unlimited_ = false;    // any link is unlimited
    bool rates_requested_ = false;  // set_rates is due at the end of this instant

    // Solver scratch: one component, renumbered.
    MaxMin max_min_;
    Index mark_ = 0;
    std::vector<LinkId> component_links_;
    std::vector<Index> component_flows_;
    std::vector<double> capacity_;
    std::vector<Index> first_hop_;
    std::vector<Index> hops_;
};

}  // namespace paceline
