// How a ring with slots that runs ahead (sim/ahead/slot_times.hpp) goes on by events: what each
// member has done by this instant becomes messages of the network, posted receives, and slots whose
// grants are on their way.
#include <algorithm>
#include <vector>

#include "sim/ahead/ahead_run.hpp"

namespace paceline {

namespace {

// The lanes of the members of a ring with slots that are in it.
struct SlotLanes {
    const std::vector<AheadMember*>& members;
    int slots;

    [[nodiscard]] bool has(int place) const { return members[AheadRun::at(place)] != nullptr; }
    [[nodiscard]] OpenLane& sender(int place) const {
        return members[AheadRun::at(place)]->lane(0);
    }
    [[nodiscard]] OpenLane& slot(int place, int round) const {
        return members[AheadRun::at(place)]->lane(1 + round % slots);
    }
};

// Notes the rounds that the member's lanes are at.
void open_slots(const SlotLanes& lanes, int place, const SlotTimes::Member& did, int rounds) {
    if (did.drained < rounds) lanes.sender(place).round = did.drained;
    int round = did.delivered;
    for (const Time posts : did.posts) {
        OpenLane& slot = lanes.slot(place, round);
        slot.round = round++;
        slot.posts = posts;
    }
}

}  // namespace

// Into each lane goes first what crosses, then what is on its links, then what waits for its
// receiver. Messages of the network count themselves when they drain, and when they are delivered.
void Ahead::hand_over_slots(AheadRun& run, const std::vector<AheadMember*>& members) {
    const MessageRounds& rounds = run.rounds;
    find_ring_wires(run);
    run.slots.begin(rounds, run.ring_wires, run.way_back, run.entries);
    const std::vector<SlotTimes::Member> all = run.slots.members_by(
        [&](Time at, EventRank rank, int place) { return has_happened(run, at, rank, place); },
        run.ring_wires);
    const SlotLanes lanes{members, std::min(rounds.slots, rounds.count)};
    for (int place = 0; place < rounds.members; ++place) {
        const SlotTimes::Member& did = all[AheadRun::at(place)];
        if (network_.reports_sums()) report_ring(run, place, did.drained);
        if (!lanes.has(place)) continue;
        AheadMember& member = *members[AheadRun::at(place)];
        let_go(run, place, member);
        count(run.host(place), ring_traffic(run, place, did.drained, did.delivered));
        member.lanes = std::vector<OpenLane>(static_cast<std::size_t>(lanes.slots) + 1);
        open_slots(lanes, place, did, rounds.count);
    }
    for (int place = 0; place < rounds.members; ++place) {
        if (!lanes.has(place)) continue;
        const int from = run.before(place);
        const RoundMessage& next = all[AheadRun::at(from)].next;
        const SlotTimes::Member& did = all[AheadRun::at(place)];
        int round = did.delivered;
        for (const RoundMessage& message : did.crossing) {
            OpenLane& slot = lanes.slot(place, round++);
            slot.awaits = run.host(from);
            adopt(run, from, place, message, nullptr, slot.join);
        }
        if (!lanes.has(from) || next.set_out == never || !is_under_way(next)) continue;
        OpenLane& slot = lanes.slot(place, round);
        OpenLane& sender = lanes.sender(from);
        slot.awaits = run.host(from);
        sender.sends_to = run.host(place);
        sender.message = adopt(run, from, place, next, &sender.join, slot.join);
    }
    for (int place = 0; place < rounds.members; ++place) {
        if (!lanes.has(place)) continue;
        const SlotTimes::Member& did = all[AheadRun::at(place)];
        OpenLane& sender = lanes.sender(place);
        const bool has_data =
            did.delivered > did.drained - rounds.data_lag() || did.drained < rounds.data_lag();
        if (sender.round < 0 || sender.sends_to >= 0 || !has_data) continue;
        sender.sends_to = run.host(run.next(place));
        sender.message = network_.send(run.host(place), sender.sends_to, run.stream,
                                       sent_in_round(rounds, place, sender.round),
                                       Protocol::rendezvous, sender.join, rounds.cost);
        network_.set_kind(sender.message, run.kind);
    }
    for (int place = 0; place < rounds.members; ++place) {
        if (!lanes.has(place)) continue;
        const SlotTimes::Member& did = all[AheadRun::at(place)];
        for (int i = 0; i < static_cast<int>(did.posts.size()); ++i) {
            OpenLane& slot = lanes.slot(place, did.delivered + i);
            if (slot.awaits >= 0 || slot.posts > simulation_.now()) continue;
            slot.awaits = run.host(run.before(place));
            network_.receive(run.host(place), slot.awaits, run.stream, slot.join,
                             Protocol::rendezvous);
        }
    }
}

}  // namespace paceline
