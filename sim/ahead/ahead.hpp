// Collectives that run ahead of the event queue: where nothing else can touch their messages, the
// times of all of them follow from a recurrence (sim/ahead/message_rounds.hpp), and only the ends
// of members are events.
//
// Nothing is assumed equal: members enter at times of their own, and each message has the rate and
// the latency of its route. What is assumed is that no message shares a link with another one,
// except within a group (sim/ahead/grouped_times.hpp) and with rings beside it through the same
// cards (sim/ahead/card_times.hpp), and that is checked:
//   - Each link has one owner, so that the messages of a collective never meet
//     (sim/ahead/link_owners.hpp).
//   - A host is in one such collective at a time, and enters only while no flow is on its links,
//     none of them is
//     down, and it has spent its overhead.
//   - Everything that could touch a link while its owner is in a collective says so first: a flow
//     that starts, a
//     change of the link, a message that another one of the collective might have to let pass.
//     So does whatever ends the life of a member or of its task.
// Then the collective is handed over to the network: the state of that instant is worked out from
// the recurrence, and its messages go on by events (ahead_handover.cpp). So all times are those of
// events, to the picosecond, and what happens at one picosecond happens in the same order, since
// ends have the keys of the events that they stand for (EventKey).
//
// In a ring whose wires take no time, all members end in the instant in which the last one enters:
// in one event.
//
// Collectives go by events from the beginning where they cannot be told apart from what surrounds
// them: eager and in-band messages, links whose two directions share (duplex_share below 1),
// jitter, slow start, an observer that wants each message. So do all if Transport::by_events is
// set.
//
// Traffic of a member is counted when it ends, or at a handover; Network::settle() brings about
// one.
//
// Cost: O(members) per collective for entries and ends, and O(1) per message, half a nanosecond for
// a ring. An interruption costs as much again for the messages until then. Memory: O(members x
// rounds in flight) per collective under way, and O(links).
#pragma once

#include <coroutine>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/ahead/message_rounds.hpp"
#include "sim/engine/coroutine.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class AheadRun;

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

/// A round that was open when its collective was handed over. Of a ring with slots, lane 0 has the
/// first round whose message has not drained, and each other lane one of the next to be received.
struct OpenLane {
    int round = -1;       // -1: all rounds of this lane have ended
    Join join{1};         // complete once what it waits for has happened
    int sends_to = -1;    // host whose message has been sent and has not drained
    int awaits = -1;      // host whose message has not been delivered
    bool relays = false;  // sends its message once the other has been delivered
    MessageId message{};  // that it sends
    Time posts{};         // of a slot: when the receiver is ready
};

/// Waits for what a round waits for whose collective was handed over.
class [[nodiscard]] OpenLaneEnds {
  public:
    OpenLaneEnds(OpenLane& lane, WaitReason reason) : lane_(lane), reason_(reason) {}

    [[nodiscard]] bool await_ready() const noexcept { return lane_.join.complete(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& member = handle.promise();
        member.waits_for(reason_);
        lane_.join.wake(member);
    }
    static void await_resume() noexcept {}

  private:
    OpenLane& lane_;
    WaitReason reason_;
};

/// What a collective that runs ahead knows of a member that is in it.
struct AheadMember {
    AheadRun* run = nullptr;  // while it runs ahead
    Stream stream = 0;
    int host = -1;
    bool entered = false;  // and did not go by events from the first round on
    Join join{1};
    std::vector<OpenLane> lanes{};
    [[nodiscard]] OpenLane& lane(int number) { return lanes[static_cast<std::size_t>(number)]; }
};

/// A member's part in a collective that runs ahead. Lives in the member's frame; its end leaves
/// nothing behind.
class AheadTicket {
  public:
    AheadTicket() = default;
    AheadTicket(const AheadTicket&) = delete;
    AheadTicket& operator=(const AheadTicket&) = delete;
    ~AheadTicket();

    /// The member enters. Returns whether it waits for join(); otherwise it goes by events from the
    /// first round on. All members give equal rounds.
    bool enter(NetworkPart network, Stream stream, int place, PlacesOfHosts hosts,
               const MessageRounds& rounds);

    /// Complete once the member has ended all rounds, or its collective was handed over.
    [[nodiscard]] Join& join() { return member_.join; }
    [[nodiscard]] bool has_ended() const { return member_.entered && member_.lanes.empty(); }
    [[nodiscard]] bool was_handed_over() const { return !member_.lanes.empty(); }
    /// After a handover, the open round of lane `round mod in_flight`; of a ring with slots, lane 0
    /// sends, and 1 + `round mod slots` receives.
    [[nodiscard]] OpenLane& lane(int number) { return member_.lane(number); }

  private:
    Network* network_ = nullptr;
    AheadMember member_;
};

/// Waits until the member has ended, or its collective was handed over to the network.
class [[nodiscard]] EndsAhead {
  public:
    explicit EndsAhead(AheadTicket& ticket) : join_(ticket.join()) {}

    [[nodiscard]] bool await_ready() const noexcept { return join_.complete(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& member = handle.promise();
        member.waits_for({"the members of a collective", -1});
        join_.wake(member);
    }
    static void await_resume() noexcept {}

  private:
    Join& join_;
};

}  // namespace paceline
