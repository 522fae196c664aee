// Messages on the wires: a fluid model in which flows share links max-min fairly.
//
// A message of S bytes over route R, alone,
//     drains after                        S / min over R of (bandwidth x efficiency), and
//     is delivered after a further        sum over R of latency (cut-through, paid once).
// Among others its rate is its max-min share (sim/network/max_min.hpp), which changes whenever a
// flow of its connected component starts or drains or a link of it changes.
//
//   - Draining frees the links and tells the sender; delivery tells the receiver. Messages of one
//     lane (source, destination, stream) are one flow at a time, and none overtakes another.
//   - A message sets out when it is sent (eager), or when someone also waits for it at its
//     destination (rendezvous, as MPI does with large messages). Collectives use rendezvous, so
//     that a rank takes in one message at a time.
//   - `overhead` occupies the sender before each message's flow starts; its messages take turns.
//     Neither it nor slow start touches messages inside a machine.
//   - Slow start: the first message from one host to another begins late, by what its windows w_k =
//     2^k w_0 leave unused, sum over k of (RTT - w_k/C), until a window fills the way (w_k >= RTT C)
//     or the message is through; C is the capacity of the way, RTT twice its latency.
//   - A link both ways of whose cable are busy has `duplex_share` of its capacity.
//   - Rates are set once per instant, when its events and ready coroutines are exhausted, and only
//     on the components that were touched. A flow that shares no link costs O(route) and no solve,
//     and is timed in integers.
//   - A flow of rate 0 waits for the links of its way that are down. If each of them has announced
//     when it changes next, the flow looks again then, and so keeps the run alive; else it has no
//     event, and who waits for it is named when nothing else is left to happen.
//   - What has flowed of a message is kept while a link is down, or lost (lose_flows): it starts
//     anew, and is counted as wasted. What has drained is on its way and is not lost.
//   - Unlimited links are left out of the ways on which messages drain: only their latency counts.
//     They neither lose nor change.
//   - Links may jitter and lose (sim/network/impairments.hpp): a message's jitter is drawn when it
//     begins to flow, and its rate is at most what loss leaves it.
//   - Rates are doubles in bytes per picosecond; a flow crosses back to the clock once, rounded up
//     to the tick.
//
// Memory: O(hosts + links + messages in flight), with slow start also O(pairs that have exchanged
// something); nothing is allocated per message once pools are warm, but for jitter an entry per lane
// with messages on their way. Limits: no packets, no reaction time: a share is had at once. Flows
// whose links are never up together wait for ever. Source of the model: the fluid "CM02" family (Casanova, Marchal,
// 2002), held against SimGrid and against closed forms in the tests.
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

/// Names a message until it is delivered.
struct MessageId {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
};

/// What a host has exchanged with other machines.
struct Traffic {
    Bytes sent;
    Bytes received;
    Bytes wasted{};  // that flowed from it and was lost with an outage, to the nearest byte each
};

/// What the protocol adds to the wires between machines. By default nothing.
struct Transport {
    Duration overhead{};   // of the sender, before each of its messages flows
    Bytes first_window{};  // what a new connection sends before its first answer; 0: no slow start
};

/// When a message sets out: at once, or once its receiver waits for it. The handshake itself costs
/// nothing.
enum class Protocol : std::uint8_t { eager, rendezvous };

class Network {
  public:
    /// Links draw from streams of `random`.
    Network(Simulation& simulation, Fabric fabric, const Transport& transport = {},
            const RandomStreams& random = RandomStreams(1));
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Sends `size` bytes. `drained` arrives when the links are free of it. What a daemon sends does
    /// not keep the run alive. Requires from != to, and that `drained` lives until then or is
    /// forgotten.
    MessageId send(int from, int to, Stream stream, Bytes size, Protocol protocol, Join& drained);

    /// A host has died: whatever it has sent and is not delivered never will be. Of a message that
    /// flows, what has left the host counts as sent.
    void silence(int host);

    /// The sender no longer listens; the message goes on.
    void forget(MessageId message);

    /// `delivered` arrives with the next message of the lane.
    void receive(int to, int from, Stream stream, Join& delivered);
    void withdraw(int to, int from, Stream stream, Join& delivered) {
        mailboxes_.withdraw(to, from, stream, delivered);
    }

    /// Whether a message of the lane is there that nobody has taken yet.
    [[nodiscard]] bool has_arrived(int to, int from, Stream stream) const {
        return mailboxes_.has_arrived(to, from, stream);
    }

    /// Changes a link under the flows it carries. A bandwidth of 0 takes it down. It stays so until
    /// then: whoever announces a time calls again at that time. Changes are daemon events; a flow
    /// that waits for them is not.
    void set_bandwidth(LinkId link, Bandwidth bandwidth, Time until = never);

    /// What the flows on a link have moved is lost: they start anew, from where they are sent.
    void lose_flows(LinkId link);

    /// Tells `observer` of messages from now on; null: nobody. Requires that it outlives the run.
    void observe(const NetworkObserver* observer) { observer_ = observer; }

    [[nodiscard]] Simulation& simulation() const { return simulation_; }
    [[nodiscard]] int hosts_per_node() const { return hosts_per_node_; }
    /// Links, and what payload can have of each now.
    [[nodiscard]] std::size_t links() const { return links_.size(); }
    [[nodiscard]] Bandwidth capacity(LinkId link) const { return links_[link].capacity; }
    /// The way of a message. Requires from != to.
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
    /// Current rate in bytes per picosecond; 0 for one that waits, has drained or is unknown.
    [[nodiscard]] double rate(MessageId message) const;

  private:
    using Index = std::uint32_t;
    static constexpr Index none = ~Index{0};
    static constexpr LinkId no_link = ~LinkId{0};

    struct Flow {
        Route route;
        boost::container::small_vector<Index, 4> places;  // of this flow in each link's list
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
        Index behind = none;  // the next message of the lane; in a free flow, the next free one
        Index tail_prev = none, tail_next = none;  // among the lane ends of the sender
        Index mark = 0;                            // the solve that visited it last
        Protocol protocol = Protocol::eager;
        EventKind kind = EventKind::foreground;  // of the sender, and so of its events
        bool scheduled = false;  // `event` is pending: it drains, or looks again at its links
        bool on_links = false;
        bool in_use = false;
        bool lost = false;  // its host has died: it is not delivered
    };
    struct LinkState {
        Bandwidth capacity;  // for payload
        Bandwidth shared;    // of that, while the way back is busy
        Duration latency{};
        double payload = 1;       // share of the bandwidth
        double duplex_share = 1;  // of the capacity, while the way back is busy
        LinkId back = no_link;    // the way back, if it matters
        std::vector<Index> flows;
        Index mark = 0;   // the solve that visited it last
        Index local = 0;  // its number in that solve
        bool dirty = false;
        bool unlimited = false;
    };

    Index take_flow();
    bool join_lane(Index index);
    void leave_lane(Index index);
    void offer(Index index);
    void prepare(Index index);
    void start(Index index);
    void leave_out_unlimited(Route& route) const;
    void tell_of_begin(Index index) const;
    void drain(Index index);
    void deliver(Index index);
    void enter_links(Index index);
    void leave_links(Index index);
    void cut(Index index);
    static void set_capacity(LinkState& state, Bandwidth bandwidth);
    void touch(LinkState& link);
    void touch_back(const LinkState& link);
    void close_soon();
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
    void look_again(Index index);

    Simulation& simulation_;
    Mailboxes mailboxes_;
    std::function<void(int, int, Route&)> find_route_;
    std::vector<LinkState> links_;
    std::vector<Flow> flows_;
    std::vector<Index> lane_ends_;   // [host]: first of the last undrained messages of its lanes
    std::vector<Time> sender_free_;  // [host], when there is an overhead
    std::vector<Traffic> traffic_;
    std::vector<Index> started_;  // this instant, without a rate yet
    std::vector<LinkId> dirty_;   // touched this instant
    Index free_flow_ = none;
    int hosts_;
    int hosts_per_node_;
    Transport transport_;
    std::unordered_set<std::uint64_t> connections_;  // (from, to) that have sent; asked, not walked
    std::unique_ptr<Impairments> impairments_;       // null: links are ideal
    std::vector<Time> announced_;  // [link]: of its next change; empty: none has announced any
    std::size_t flowing_ = 0;
    std::uint64_t delivered_ = 0;
    const NetworkObserver* observer_ = nullptr;
    bool has_unlimited_ = false;  // links
    bool closing_ = false;        // set_rates is due at the end of this instant

    // Scratch of the solver: one component, renumbered.
    MaxMin max_min_;
    Index mark_ = 0;
    std::vector<LinkId> component_links_;
    std::vector<Index> component_flows_;
    std::vector<double> capacity_;
    std::vector<Index> first_hop_;
    std::vector<Index> hops_;
};

}  // namespace paceline
