// Collectives that run ahead of the event queue: where nothing else can touch their messages, the times of all of
// them follow from a recurrence (sim/network/message_rounds.hpp), and only the ends of members are events.
//
// Nothing is assumed equal: members enter at times of their own, and each message has the rate and the latency of
// its route. What is assumed is that no message shares a link with another one, and that is checked:
//   - Each link has one owner, so that the messages of a collective never meet (sim/network/link_owners.hpp).
//   - A host is in one such collective at a time, and enters only while no flow is on its links, none of them is
//     down, and it has spent its overhead.
//   - Everything that could touch a link while its owner is in a collective says so first: a flow that starts, a
//     change of the link, a message that another one of the collective might have to let pass.
//     So does whatever ends the life of a member or of its task.
// Then the collective is handed over to the network: the state of that instant is worked out from the recurrence,
// and its messages go on by events (network_handover.cpp). So all times are those of events, to the picosecond, and
// what happens at one picosecond happens in the same order, since ends have the keys of the events that they stand
// for (EventKey).
//
// In a ring whose wires take no time, all members end in the instant in which the last one enters: in one event.
//
// Collectives go by events from the beginning where they cannot be told apart from what surrounds them: eager and
// in-band messages, links whose two directions share (duplex_share below 1), jitter, slow start, an observer that wants
// each message. So do all if Transport::by_events is set.
//
// Traffic of a member is counted when it ends, or at a handover; Network::settle() brings about one.
//
// Cost: O(members) per collective for entries and ends, and O(1) per message, half a nanosecond for a ring. An
// interruption costs as much again for the messages until then. Memory: O(members x rounds in flight) per
// collective under way, and O(links).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>

#include "sim/engine/coroutine.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/link_owners.hpp"
#include "sim/network/message_rounds.hpp"
#include "sim/network/stream.hpp"
#include "sim/network/wire.hpp"

namespace paceline {

class Network;
class AheadRun;
struct RoundMessage;
struct RoundTraffic;

/// The hosts of a collective by place: every `stride`-th of `hosts`, beginning with `first`.
struct PlacesOfHosts {
    std::span<const int> hosts;
    std::size_t first = 0;
    std::size_t stride = 1;
    int offset = 0;  // added to each
    [[nodiscard]] int operator()(int place) const {
        return offset + hosts[first + static_cast<std::size_t>(place) * stride];
    }
};

/// A round that was open when its collective was handed over.
struct OpenLane {
    int round = -1;             // -1: all rounds of this lane have ended
    Join join{1};               // complete once what it waits for has happened
    int sends_to = -1;          // host whose message has been sent and has not drained
    int awaits = -1;            // host whose message has not been delivered
    bool relays = false;        // sends its message once the other has been delivered
    std::uint32_t message = 0;  // MessageId of what it sends
    std::uint32_t generation = 0;
};

/// A member's part in a collective that runs ahead. Lives in the member's frame; its end leaves nothing behind.
class AheadTicket {
  public:
    AheadTicket() = default;
    AheadTicket(const AheadTicket&) = delete;
    AheadTicket& operator=(const AheadTicket&) = delete;
    ~AheadTicket();

    /// The member enters. Returns whether it waits for join(); otherwise it goes by events from the first
    /// round on. All members give equal rounds.
    bool enter(Network& network, Stream stream, int place, const PlacesOfHosts& hosts,
               const MessageRounds& rounds);

    /// Complete once the member has ended all rounds, or its collective was handed over.
    [[nodiscard]] Join& join() { return join_; }
    [[nodiscard]] bool has_ended() const { return entered_ && lanes_.empty(); }
    [[nodiscard]] bool was_handed_over() const { return !lanes_.empty(); }
    /// After a handover, the open round of lane `round mod in_flight`.
    [[nodiscard]] OpenLane& lane(int number) { return lanes_[static_cast<std::size_t>(number)]; }

  private:
    friend class Ahead;

    Network* network_ = nullptr;
    AheadRun* run_ = nullptr;  // while it runs ahead
    Stream stream_ = 0;
    int host_ = -1;
    bool entered_ = false;
    Join join_{1};
    std::vector<OpenLane> lanes_;
};

class Ahead {
  public:
    Ahead(Network& network, int hosts, std::size_t links);
    Ahead(const Ahead&) = delete;
    Ahead& operator=(const Ahead&) = delete;
    ~Ahead();

    /// A flow is about to use a link.
    void touch(LinkId link) {
        if (active_ > 0 && owners_.owner(link) >= 0) touch_host(owners_.owner(link));
    }
    /// The bandwidth of a link is about to change. Collectives in which its owner took part are handed over
    /// although the owner may have ended, since their recurrence would run again with the new bandwidth.
    void touch_bandwidth(LinkId link);
    /// A host is about to send by itself.
    void touch_host(int host);
    /// A message is about to enter the lanes of a stream to a host.
    void touch_lane(int to, Stream stream);
    /// Forgets collectives of a stream that some of these hosts have begun and given up; see Network::close.
    void close(Stream stream, std::span<const int> hosts, int first);
    /// Hands everything over that runs ahead. Returns whether anything did.
    bool hand_over_all();
    [[nodiscard]] bool active() const { return active_ > 0; }

    /// Collectives that ran to their end ahead of the queue, and those that were handed over.
    [[nodiscard]] std::uint64_t finished() const { return finished_; }
    [[nodiscard]] std::uint64_t handed_over() const { return handed_over_; }

  private:
    friend class AheadRun;
    friend class AheadTicket;
    struct Key {
        Stream stream;
        int first;
        int second;
        int members;
        auto operator<=>(const Key&) const = default;
    };

    bool enter(AheadTicket& ticket, int place, const PlacesOfHosts& hosts,
               const MessageRounds& rounds);
    void leave(AheadTicket& ticket);
    AheadRun& run_for(const AheadTicket& ticket, int place, const PlacesOfHosts& hosts,
                      const MessageRounds& rounds);
    [[nodiscard]] bool can_run(int host) const;
    [[nodiscard]] bool is_plain() const;
    [[nodiscard]] Wire half_wire(std::span<const LinkId> links) const;
    [[nodiscard]] Wire wire(const AheadRun& run, int from, int to);
    bool follow(AheadRun& run, int place);
    bool run_ring(AheadRun& run);
    void find_ring_wires(AheadRun& run);
    static RoundTraffic ring_traffic(const AheadRun& run, int place, int rounds);
    void schedule_end_of_all(AheadRun& run);
    void all_end(AheadRun& run);
    void schedule_end(AheadRun& run, int place, Time at, EventRank by);
    void member_ends(AheadRun& run, int place);
    void count(int host, const RoundTraffic& of);
    [[nodiscard]] bool is_observed() const;
    void report(const AheadRun& run, int from, int to, Bytes bytes, Duration busy);
    void report_message(const AheadRun& run, int from, int to, const RoundMessage& message);
    void report_ring(const AheadRun& run, int rounds);
    void report_all(AheadRun& run);
    void retire(AheadRun& run);

    void hand_over(AheadRun& run);
    void replay(AheadRun& run);
    void open_lanes(AheadRun& run, int place, AheadTicket& ticket);
    void hand_over_messages(AheadRun& run, const std::vector<AheadTicket*>& tickets);
    [[nodiscard]] bool has_left(const AheadRun& run, int from, const RoundMessage& message) const;
    [[nodiscard]] bool is_under_way(const RoundMessage& message) const;
    std::uint32_t adopt(AheadRun& run, int from, int to, const RoundMessage& message,
                        Join& delivered);

    Network& network_;
    LinkOwners owners_;
    using Gathering = boost::container::small_vector<AheadRun*, 2>;
    boost::container::flat_map<Key, Gathering> gathering_;  // oldest first
    std::vector<std::unique_ptr<AheadRun>> runs_;           // all that exist
    std::vector<std::unique_ptr<AheadRun>> free_;           // to be used again
    std::vector<AheadRun*> of_host_;                        // the run that a host is in, or null
    std::size_t active_ = 0;                                // runs with a member in them
    std::uint64_t begun_ = 0;
    std::uint64_t finished_ = 0;
    std::uint64_t handed_over_ = 0;
    Route route_;  // scratch
};

}  // namespace paceline
