// What runs ahead (sim/ahead/ahead.hpp): all collectives of a network, and each by itself.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>

#include "sim/ahead/ahead.hpp"
#include "sim/ahead/card_times.hpp"
#include "sim/ahead/grouped_times.hpp"
#include "sim/ahead/link_owners.hpp"
#include "sim/ahead/ring_times.hpp"
#include "sim/ahead/round_times.hpp"
#include "sim/ahead/slot_times.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/network/network.hpp"

namespace paceline {

struct AheadCards;

/// The collectives of a network. Entries and ends are in ahead_run.cpp, handovers in
/// ahead_handover.cpp and, of rings with slots, in slot_handover.cpp, what an observer is told in
/// ahead_reports.cpp, what is particular to grouped messages in ahead_grouped.cpp, and to rings
/// that share cards in ahead_cards.cpp.
class Ahead final : public Reserver {
  public:
    /// Returns the one of a network, which owns it.
    static Ahead& of(Network& network);

    explicit Ahead(Network& network);

    /// See AheadTicket::enter.
    bool enter(AheadMember& member, int place, const PlacesOfHosts& hosts,
               const MessageRounds& rounds);
    void hand_over(AheadRun& run);
    /// The ends of members, as events.
    void member_ends(AheadRun& run, int place);
    void all_end(AheadRun& run);
    /// A ring that shares cards has waited for the others as long as it can.
    void cards_are_due(AheadCards& cards);

    void touch_host(int host) override;
    /// Hands over collectives in which the link's owner took part, also if it has ended: their
    /// recurrence would run again with the new bandwidth.
    void touch_bandwidth(LinkId link) override;
    void touch_lane(int to, Stream stream) override;
    void touch_all() override;
    void close(Stream stream, std::span<const int> hosts, int first) override;

    /// Collectives that ran to their end ahead of the queue, and those that were handed over.
    [[nodiscard]] std::uint64_t finished() const { return finished_; }
    [[nodiscard]] std::uint64_t handed_over() const { return handed_over_; }

  private:
    struct Key {
        Stream stream;
        int first;
        int second;
        int members;
        auto operator<=>(const Key&) const = default;
    };

    AheadRun& run_for(const AheadMember& member, int place, const PlacesOfHosts& hosts,
                      const MessageRounds& rounds);
    [[nodiscard]] bool can_run(int host) const;
    [[nodiscard]] Wire wire(const AheadRun& run, int from, int to);
    [[nodiscard]] Wire wire_of_route(const AheadRun& run, int from, int to);
    bool follow(AheadRun& run, int place);
    bool follow_group(AheadRun& run, int place);
    bool end_group(AheadRun& run);
    void replay_group(AheadRun& run);
    bool join_cards(AheadRun& run, const PlacesOfHosts& hosts);
    AheadCards* cards_for(const AheadRun& run, const PlacesOfHosts& hosts);
    [[nodiscard]] bool can_run_beside(const AheadRun& run, int place);
    AheadCards*& of_card(int card);
    void use_card(AheadCards& cards, int place);
    void leave_card(AheadCards& cards, int place);
    bool have_one_rate(const AheadRun& run, int place);
    bool follow_cards(AheadRun& run, int place);
    bool run_cards(AheadCards& cards);
    [[nodiscard]] Bandwidth shared_capacity(const AheadCards& cards, std::size_t place) const;
    void begin_times(AheadCards& cards);
    void hand_over_cards(AheadCards& cards);
    void stand(AheadRun& run);
    void forget_ring(const AheadRun& run);
    void drop_cards(const AheadCards& cards);
    bool run_ring(AheadRun& run);
    template <class Times>
    bool run_times(AheadRun& run, Times& times);
    void find_ring_wires(AheadRun& run);
    static RoundTraffic ring_traffic(const AheadRun& run, int place, int sent, int received);
    void schedule_end_of_all(AheadRun& run);
    void schedule_end(AheadRun& run, int place, Time at, EventRank by);
    void count(int host, const RoundTraffic& of);
    void report(const AheadRun& run, int from, int to, Bytes bytes, Duration busy);
    void report_message(const AheadRun& run, int from, int to, const RoundMessage& message);
    void report_ring(const AheadRun& run, int place, int rounds);
    void report_all(AheadRun& run);
    void retire(AheadRun& run);

    void hand_on(AheadRun& run);
    void replay(AheadRun& run);
    void open_lanes(AheadRun& run, int place, AheadMember& member);
    void hand_over_messages(AheadRun& run, const std::vector<AheadMember*>& members);
    void hand_over_slots(AheadRun& run, const std::vector<AheadMember*>& members);
    void let_go(AheadRun& run, int place, AheadMember& member);
    [[nodiscard]] bool has_happened(const AheadRun& run, Time at, EventRank rank, int place) const;
    [[nodiscard]] bool has_left(const AheadRun& run, int from, const RoundMessage& message) const;
    [[nodiscard]] bool is_under_way(const RoundMessage& message) const;
    MessageId adopt(AheadRun& run, int from, int to, const RoundMessage& message, Join* drained,
                    Join& delivered);

    Network& network_;
    Simulation& simulation_;
    Reservations& reservations_;  // active: runs with a member in them
    LinkOwners owners_;
    using Gathering = boost::container::small_vector<AheadRun*, 2>;
    boost::container::flat_map<Key, Gathering> gathering_;  // oldest first
    std::vector<std::unique_ptr<AheadRun>> runs_;           // all that exist
    std::vector<std::unique_ptr<AheadRun>> free_;           // to be used again
    std::vector<AheadRun*> of_host_;                        // the run that a host is in, or null
    std::vector<std::unique_ptr<AheadCards>> cards_;        // in the order in which they began
    std::vector<AheadCards*> of_card_;                      // the rings that use it, or null
    std::uint64_t begun_ = 0;
    std::uint64_t finished_ = 0;
    std::uint64_t handed_over_ = 0;
    Route route_;  // scratch
};

/// A collective that runs ahead, or was handed over before all its members had entered.
class AheadRun {
  public:
    explicit AheadRun(Ahead& owner) : ahead(owner) {}

    /// Begins anew; what was allocated is kept.
    void begin(const MessageRounds& of_rounds, Stream of_stream, std::uint64_t of_number,
               EventKind of_kind);

    [[nodiscard]] std::size_t count() const { return hosts.size(); }
    [[nodiscard]] bool is_here(int place) const { return entries[at(place)] != never; }
    [[nodiscard]] int host(int place) const { return hosts[at(place)]; }
    static std::size_t at(int place) { return static_cast<std::size_t>(place); }
    [[nodiscard]] int next(int place) const { return place + 1 < rounds.members ? place + 1 : 0; }
    [[nodiscard]] int before(int place) const { return place > 0 ? place - 1 : rounds.members - 1; }
    [[nodiscard]] const RingChunks& chunks() const {
        return rounds.slots > 0 ? slots.chunks() : ring.chunks();
    }
    void end_member(std::uint32_t place) { ahead.member_ends(*this, static_cast<int>(place)); }
    void end_all(std::uint32_t /*unused*/) { ahead.all_end(*this); }

    Ahead& ahead;
    MessageRounds rounds{};
    Stream stream = 0;
    std::uint64_t number = 0;  // in the order in which collectives began
    EventKind kind = EventKind::foreground;
    bool by_events = false;  // members that still enter do
    bool has_halves = false;
    bool takes_no_time = false;  // a ring whose wires do not
    int entered = 0;
    int inside = 0;
    std::vector<int> hosts;             // [place]
    std::vector<Time> entries;          // [place]; never: absent
    std::vector<AheadMember*> members;  // [place]; null before the entry and after the end
    std::vector<EventId> ends;          // [place]
    std::vector<Wire> up, down;         // [place], if it has halves and is no ring
    std::vector<Wire> ring_wires;       // [place]: to the next place, while a ring is worked out
    std::vector<Duration> way_back;     // [place]: from there, if it has slots
    std::vector<RoundTraffic>
        traffic;  // [place], in all rounds, if it is no ring; known when its end is
    RoundTimes times;
    RingTimes ring;
    SlotTimes slots;  // of a ring that has them
    struct End {
        Time at{};
        EventRank by = EventRank::drains;
    };
    GroupedTimes group;
    std::vector<End> group_ends;  // [place]: scratch
    AheadCards* cards = nullptr;  // whose links it shares
    int ring_of_cards = 0;        // among these
};

/// Rings that share cards. They run ahead together, once all members of all of them have entered.
struct AheadCards {
    explicit AheadCards(Ahead& owner) : ahead(owner) {}

    void due(std::uint32_t /*unused*/) { ahead.cards_are_due(*this); }
    [[nodiscard]] bool is_in_use() const;
    /// Returns whether a member has entered at the place of this card.
    [[nodiscard]] bool is_here(int card) const;

    Ahead& ahead;
    Stream stream = 0;
    int first_host = 0;  // of the rings side by side
    int members = 0;     // of each
    int rounds = 0;
    LinkOwners::Cards shares;
    std::vector<AheadRun*> rings;  // as shares.rings; null: not begun, or over
    std::uint64_t begun = 0;       // rings, by index there
    std::vector<int> cards;        // [place]: their numbers, as owners of links
    std::vector<int> inside;       // [place]: members
    std::vector<Bandwidth> alone;  // [place]: of a message to the next one; 0: not known yet
    std::size_t complete = 0;      // rings whose members have all entered
    std::size_t over = 0;          // rings
    bool by_events = false;
    EventId deadline{};
    CardTimes times;
    std::vector<Time> nobody;  // entries of a ring that has not begun
};

}  // namespace paceline
