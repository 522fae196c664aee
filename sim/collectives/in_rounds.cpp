#include "sim/collectives/in_rounds.hpp"

#include <coroutine>
#include <utility>
#include <vector>

#include "sim/collectives/slots.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

// Waits until the member has ended, or its collective was handed over to the network.
class [[nodiscard]] RunAhead {
  public:
    RunAhead(const Rank& self, const MessageRounds& rounds, AheadTicket& ticket)
        : self_(self), rounds_(rounds), ticket_(ticket) {}

    [[nodiscard]] bool await_ready() const noexcept {
        return self_.goes_by_events() || (rounds_.slots > 0 && !rounds_.passes_chunks());
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) {
        if (!ticket_.enter(self_.network(), self_.stream(), self_.place(), self_.hosts(), rounds_))
            return false;
        if (ticket_.join().complete()) return false;
        Coroutine& member = handle.promise();
        member.waits_for({"the members of a collective", -1});
        ticket_.join().wake(member);
        return true;
    }
    static void await_resume() noexcept {}

  private:
    const Rank& self_;
    const MessageRounds& rounds_;
    AheadTicket& ticket_;
};

// What the member would wait for by events.
WaitReason reason_of(const Rank& self, const MessageRounds& rounds, const OpenLane& lane) {
    const RoundOfMember own = rounds.who(self.place(), lane.round);
    if (own.to >= 0 && own.from >= 0 && !rounds.relays)
        return {"an exchange with node", self.node(own.from)};
    if (lane.awaits >= 0) return {"a message from node", self.node(own.from)};
    return {"room on the way to node", self.node(own.to)};
}

// Takes rounds first, first + step, ... by events.
Task<> take_rounds(const Rank& self, const MessageRounds& rounds, int first, int step) {
    for (int round = first; round < rounds.count; round += step) {
        const RoundOfMember own = rounds.who(self.place(), round);
        const Bytes size = own.to >= 0 ? sent_in_round(rounds, self.place(), round) : Bytes{0};
        if (own.to >= 0 && own.from >= 0 && !rounds.relays) {
            co_await self.exchange(own.to, size, own.from, rounds.grouped);
            continue;
        }
        if (own.from >= 0) co_await self.receive(own.from);
        if (own.to >= 0) co_await self.send(own.to, size);
    }
}

// Ends the open round of a lane, and takes those behind it.
Task<> go_on(const Rank& self, const MessageRounds& rounds, AheadTicket& ticket, int number) {
    OpenLane& lane = ticket.lane(number);
    if (lane.round < 0) co_return;
    co_await OpenLaneEnds(lane, reason_of(self, rounds, lane));
    if (lane.relays)
        co_await self.send(rounds.who(self.place(), lane.round).to,
                           sent_in_round(rounds, self.place(), lane.round));
    co_await take_rounds(self, rounds, lane.round + rounds.open_rounds(), rounds.open_rounds());
}

// A frame of its own, not a part of the caller's, so that those of members that run ahead are
// small.
[[gnu::noinline]] Task<> by_events(const Rank& self, const MessageRounds& rounds,
                                   AheadTicket& ticket) {
    const int lanes = rounds.open_rounds();
    std::vector<Task<>> all;
    for (int lane = 0; lane < lanes; ++lane)
        all.push_back(ticket.was_handed_over() ? go_on(self, rounds, ticket, lane)
                                               : take_rounds(self, rounds, lane, lanes));
    co_await when_all(std::move(all));
}

}  // namespace

Task<> in_rounds(Rank self, MessageRounds rounds) {
    rounds.cost = self.cost();
    AheadTicket ticket;
    co_await RunAhead(self, rounds, ticket);
    if (ticket.has_ended()) co_return;
    if (rounds.slots > 0)
        co_await slots_by_events(self, rounds, ticket);
    else
        co_await by_events(self, rounds, ticket);
}

}  // namespace paceline
