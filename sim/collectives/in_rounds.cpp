#include "sim/collectives/in_rounds.hpp"

#include <utility>
#include <vector>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/slots.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

// The member enters. Returns whether it runs ahead.
bool enter_ahead(const Rank& self, const MessageRounds& rounds, AheadTicket& ticket) {
    if (self.goes_by_events() || (rounds.slots > 0 && !rounds.passes_chunks())) return false;
    return ticket.enter(self.network(), self.stream(), self.place(), self.hosts(), rounds);
}

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

Task<> without_slots(const Rank& self, MessageRounds rounds, AheadTicket& ticket) {
    const int lanes = rounds.open_rounds();
    std::vector<Task<>> all;
    for (int lane = 0; lane < lanes; ++lane)
        all.push_back(ticket.was_handed_over() ? go_on(self, rounds, ticket, lane)
                                               : take_rounds(self, rounds, lane, lanes));
    co_await when_all(std::move(all));
}

// Not inlined, like the two for rings: what they have on the stack would become part of their
// callers' frames, and those of members that run ahead are small.
[[gnu::noinline]] Task<> by_events(const Rank& self, MessageRounds&& rounds, AheadTicket& ticket) {
    return rounds.slots > 0 ? slots_by_events(self, std::move(rounds), ticket)
                            : without_slots(self, std::move(rounds), ticket);
}

MessageRounds rounds_of(const Rank& self, const RingOfChunks& ring) {
    MessageRounds rounds = ring_of_chunks(self.size(), ring.steps, ring.size, ring.first,
                                          ring.slices, ring.in_flight, ring.slots);
    rounds.cost = self.cost();
    return rounds;
}

}  // namespace

Task<> in_rounds(Rank self, MessageRounds rounds) {
    rounds.cost = self.cost();
    AheadTicket ticket;
    if (enter_ahead(self, rounds, ticket)) co_await EndsAhead(ticket);
    if (!ticket.has_ended()) co_await by_events(self, std::move(rounds), ticket);
}

Task<> in_ring(Rank self, RingOfChunks ring) {
    AheadTicket ticket;
    if (enter_ring(self, ring, ticket)) co_await EndsAhead(ticket);
    if (!ticket.has_ended()) co_await ring_by_events(self, ring, ticket);
}

[[gnu::noinline]] bool enter_ring(const Rank& self, const RingOfChunks& ring, AheadTicket& ticket) {
    return enter_ahead(self, rounds_of(self, ring), ticket);
}

[[gnu::noinline]] Task<> ring_by_events(const Rank& self, const RingOfChunks& ring,
                                        AheadTicket& ticket) {
    return by_events(self, rounds_of(self, ring), ticket);
}

}  // namespace paceline
