// How a collective that runs ahead (sim/ahead/ahead.hpp) goes on by events: the state of this
// instant, worked out from the recurrence, becomes messages of the network.
#include <algorithm>
#include <optional>
#include <utility>

#include "sim/ahead/ahead_run.hpp"

namespace paceline {

// Lanes are first-in first-out, so an older collective of the same stream hands its messages over
// first.
void Ahead::hand_over(AheadRun& run) {
    for (std::size_t i = 0; i < runs_.size();) {
        AheadRun& other = *runs_[i];
        const bool is_before = other.stream == run.stream && other.number < run.number &&
                               (run.cards == nullptr || other.cards != run.cards);
        if (!is_before || other.inside == 0) {
            ++i;
            continue;
        }
        hand_over(other);
        i = 0;  // it may be gone
    }
    if (run.by_events) return;  // a message of those touched a lane of this one
    if (run.cards != nullptr && !run.cards->by_events) return hand_over_cards(*run.cards);
    if (run.rounds.slots == 0 && run.cards == nullptr) replay(run);
    hand_on(run);
}

// What each member is at becomes messages, and it goes on by events.
void Ahead::hand_on(AheadRun& run) {
    ++handed_over_;
    std::vector<AheadMember*> members = std::exchange(run.members, {});
    run.members.resize(run.count());
    run.by_events = true;
    if (run.inside > 0) --reservations_.active;
    run.inside = 0;
    if (run.rounds.slots > 0) {
        hand_over_slots(run, members);
    } else {
        for (int place = 0; place < run.rounds.members; ++place)
            if (AheadMember* const member = members[AheadRun::at(place)])
                open_lanes(run, place, *member);
        hand_over_messages(run, members);
    }
    for (AheadMember* const member : members)
        if (member != nullptr) member->join.arrive();
    if (run.entered == run.rounds.members) retire(run);
}

// Of what happens at that time to a message of the member.
bool Ahead::has_happened(const AheadRun& run, Time at, EventRank rank, int place) const {
    if (run.takes_no_time) return at < simulation_.now();
    return simulation_.has_fired(at, {rank, run.host(place), run.stream});
}

// The member is not in the collective any more.
void Ahead::let_go(AheadRun& run, int place, AheadMember& member) {
    simulation_.cancel(run.ends[AheadRun::at(place)]);
    of_host_[static_cast<std::size_t>(run.host(place))] = nullptr;
    member.run = nullptr;
}

// Runs the recurrence again, up to now.
void Ahead::replay(AheadRun& run) {
    run.times.begin(run.rounds, [this, &run](int from, int to) { return wire(run, from, to); });
    run.times.until([this, &run](Time at, EventRank rank, int place) {
        return has_happened(run, at, rank, place);
    });
    if (run.rounds.grouped) return replay_group(run);
    if (network_.reports_sums())
        run.times.report_to([this, &run](int from, int to, const RoundMessage& message) {
            report_message(run, from, to, message);
        });
    if (run.entered == run.rounds.members && run.rounds.passes_chunks()) {
        find_ring_wires(run);
        if (run.ring.begin(run.rounds, run.ring_wires, run.entries)) {
            const RoundTimes::Frontier frontier = run.ring.run_before(simulation_.now());
            run.traffic.resize(run.count());
            for (int place = 0; place < run.rounds.members; ++place)
                run.traffic[AheadRun::at(place)] =
                    ring_traffic(run, place, frontier.round, frontier.round);
            for (int place = 0; place < run.rounds.members && network_.reports_sums(); ++place)
                report_ring(run, place, frontier.round);
            run.times.resume(frontier, run.traffic);
            return;
        }
    }
    for (int place = 0; place < run.rounds.members; ++place)
        if (run.is_here(place)) run.times.enter(place, run.entries[AheadRun::at(place)]);
}

// Counts what the member has exchanged, and notes what its open rounds wait for.
void Ahead::open_lanes(AheadRun& run, int place, AheadMember& member) {
    const RoundTimes& times = run.times;
    let_go(run, place, member);
    RoundTraffic traffic = times.traffic(place);
    const int width = run.rounds.open_rounds();
    member.lanes = std::vector<OpenLane>(static_cast<std::size_t>(width));
    for (int round = times.first_open(place); round < times.last_open(place); ++round) {
        const OpenRound& own = times.open(place, round);
        OpenLane& lane = member.lane(round % width);
        lane.round = round;
        const bool sends = !times.has_drained(place, round);
        const bool receives = !times.has_received(place, round);
        lane.relays = run.rounds.relays && sends && receives;
        if (sends && !lane.relays) lane.sends_to = run.host(own.role.to);
        if (receives) lane.awaits = run.host(own.role.from);
        lane.join.expect((lane.sends_to >= 0 ? 1U : 0U) + (receives ? 1U : 0U));
        if (own.role.to >= 0 && !sends) {
            if (own.sent.apart) traffic.sent += own.sent.size;
            if (network_.reports_sums()) report_message(run, place, own.role.to, own.sent);
        }
        if (own.role.from < 0 || receives) continue;
        ++traffic.messages;
        if (own.received.apart) traffic.received += own.received.size;
    }
    count(run.host(place), traffic);
}

// Into each lane goes first what crosses, then what is on its links, then what waits for its
// receiver.
void Ahead::hand_over_messages(AheadRun& run, const std::vector<AheadMember*>& members) {
    const RoundTimes& times = run.times;
    const int width = run.rounds.open_rounds();
    const auto lane_of = [&](int place, int round) -> OpenLane& {
        return members[AheadRun::at(place)]->lane(round % width);
    };
    const auto for_each_open = [&](const auto& act) {
        for (int place = 0; place < run.rounds.members; ++place) {
            if (members[AheadRun::at(place)] == nullptr) continue;
            for (int round = times.first_open(place); round < times.last_open(place); ++round)
                act(place, times.open(place, round), lane_of(place, round), round);
        }
    };
    for_each_open([&](int place, const OpenRound& own, OpenLane& lane, int) {
        if (lane.awaits >= 0 && has_left(run, own.role.from, own.received))
            adopt(run, own.role.from, place, own.received, nullptr, lane.join);
    });
    for_each_open([&](int place, const OpenRound& own, OpenLane& lane, int round) {
        if (lane.sends_to >= 0 && is_under_way(own.sent))
            lane.message = adopt(run, place, own.role.to, own.sent, &lane.join,
                                 lane_of(own.role.to, round).join);
    });
    for_each_open([&](int place, const OpenRound& own, OpenLane& lane, int round) {
        if (lane.sends_to < 0 || is_under_way(own.sent)) return;
        lane.message = network_.send(run.host(place), lane.sends_to, run.stream,
                                     sent_in_round(run.rounds, place, round), Protocol::rendezvous,
                                     lane.join, run.rounds.cost);
        network_.set_kind(lane.message, run.kind);
        if (run.rounds.grouped) network_.group(lane.message);
    });
    for_each_open([&](int place, const OpenRound& own, OpenLane& lane, int) {
        if (lane.awaits < 0 || is_under_way(own.received) ||
            has_left(run, own.role.from, own.received))
            return;
        network_.receive(run.host(place), lane.awaits, run.stream, lane.join, Protocol::rendezvous);
    });
}

bool Ahead::has_left(const AheadRun& run, int from, const RoundMessage& message) const {
    return message.drain != never &&
           simulation_.has_fired(message.drain, {EventRank::drains, run.host(from), run.stream});
}

// Of what has not left. What sets out in this very instant is sent anew.
bool Ahead::is_under_way(const RoundMessage& message) const {
    return message.set_out < simulation_.now();
}

MessageId Ahead::adopt(AheadRun& run, int from, int to, const RoundMessage& message, Join* drained,
                       Join& delivered) {
    std::optional<FlowProgress> progress;
    if (run.rounds.grouped) progress = run.group.flow(from, to).progress;
    if (run.cards != nullptr) progress = run.cards->times.progress(run.ring_of_cards, from);
    return network_.adopt({.from = run.host(from),
                           .to = run.host(to),
                           .stream = run.stream,
                           .size = message.size,
                           .kind = run.kind,
                           .wire = wire(run, from, to),
                           .cost = run.rounds.cost,
                           .set_out = message.set_out,
                           .drain = message.drain,
                           .arrive = message.arrive,
                           .has_drained = has_left(run, from, message),
                           .progress = progress,
                           .grouped = run.rounds.grouped},
                          drained, delivered);
}

}  // namespace paceline
