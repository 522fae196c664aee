#include "sim/collectives/slots.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/engine/concurrency.hpp"
#include "sim/network/network.hpp"

namespace paceline {

namespace {

// How long a grant travels. In band it is the clearance that does, and eager messages wait for
// none.
Duration way_back(const Rank& self, int from) {
    if (self.protocol() != Protocol::rendezvous) return {};
    Network& network = self.network().whole();
    const int here = self.network().in_network(self.node(self.place()));
    const int there = self.network().in_network(self.node(from));
    Route route;
    network.find_route()(here, there, route);
    return network.wire(here, there, route).latency;
}

// Rounds that one slot takes, from `round` on.
struct SlotRounds {
    int round;
    int count;
    int slots;
    Duration back;             // how long a grant travels
    Time posts{};              // when it is ready for the first
    OpenLane* open = nullptr;  // the first, if it was handed over
};

Task<> fill_slot(const Rank& self, int from, SlotRounds own, Received& received) {
    Simulation& simulation = self.network().simulation();
    Time posts = own.posts;
    OpenLane* open = own.open;
    for (int round = own.round; round < own.count; round += own.slots) {
        if (open != nullptr && open->awaits >= 0) {
            co_await OpenLaneEnds(*open, {"a message from node", self.node(from)});
        } else {
            if (posts > simulation.now()) co_await simulation.sleep(posts - simulation.now());
            co_await self.receive(from);
        }
        open = nullptr;
        posts = simulation.now() + own.back;
        received.put(true);
    }
}

Task<> send_slices(const Rank& self, const MessageRounds& rounds, RoundOfMember own, int round,
                   OpenLane* open, Received& received) {
    for (; round < rounds.count; ++round) {
        if (open != nullptr && open->sends_to >= 0) {
            co_await OpenLaneEnds(*open, {"room on the way to node", self.node(own.to)});
        } else {
            if (own.from >= 0 && round >= rounds.data_lag()) co_await received.get();
            co_await self.send(own.to, sent_in_round(rounds, self.place(), round));
        }
        open = nullptr;
    }
}

}  // namespace

Task<> receive_in_slots(const Rank& self, int from, int count, int slots, Received& received) {
    const Duration back = way_back(self, from);
    std::vector<Task<>> all;
    for (int round = 0; round < std::min(slots, count); ++round)
        all.push_back(fill_slot(self, from, {round, count, slots, back}, received));
    co_await when_all(std::move(all));
}

Task<> slots_by_events(const Rank& self, MessageRounds rounds, AheadTicket& ticket) {
    const RoundOfMember own = rounds.who(self.place(), 0);
    const int slots = std::min(rounds.slots, rounds.count);
    const bool goes_on = ticket.was_handed_over();
    Received received;
    std::vector<Task<>> all;
    int next_to_receive = 0;
    if (own.from >= 0) {
        const Duration back = way_back(self, own.from);
        next_to_receive = rounds.count;
        for (int slot = 0; slot < slots; ++slot) {
            OpenLane* const open = goes_on ? &ticket.lane(1 + slot) : nullptr;
            SlotRounds of_slot{slot, rounds.count, rounds.slots, back};
            if (goes_on) {
                of_slot.round = open->round;
                of_slot.posts = open->posts;
                of_slot.open = open;
            }
            if (of_slot.round < 0) continue;
            next_to_receive = std::min(next_to_receive, of_slot.round);
            all.push_back(fill_slot(self, own.from, of_slot, received));
        }
    }
    if (own.to >= 0) {
        OpenLane* const open = goes_on ? &ticket.lane(0) : nullptr;
        const int round = goes_on ? open->round : 0;
        if (round >= 0) {
            // A message that was sent has used what was received for it.
            const int used = round + (goes_on && open->sends_to >= 0 ? 1 : 0) - rounds.data_lag();
            for (int i = std::max(used, 0); i < next_to_receive; ++i) received.put(true);
            all.push_back(send_slices(self, rounds, own, round, open, received));
        }
    }
    co_await when_all(std::move(all));
}

}  // namespace paceline
