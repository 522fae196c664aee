// Groups of messages that share links and run ahead of the queue (sim/ahead/grouped_times.hpp).
#include <algorithm>
#include <cstdint>

#include "sim/ahead/ahead_run.hpp"

namespace paceline {

namespace {

// Beyond this, times are those of the engine's own arithmetic, which saturates.
constexpr Time latest_of_group{Duration{std::int64_t{1} << 61U}};

bool can_share(const Wire& up, const Wire& down) {
    const bool are_links = !up.is_unlimited && !down.is_unlimited && !up.is_down && !down.is_down;
    return are_links && up.overhead == Duration::zero() && up.slowest == down.slowest;
}

}  // namespace

bool Ahead::follow_group(AheadRun& run, int place) {
    const std::size_t at = AheadRun::at(place);
    if (!can_share(run.up[at], run.down[at])) return false;
    if (!run.group.enter(place, run.entries[at], run.up[at].slowest)) return false;
    if (run.entered < run.rounds.members) return true;
    run.group.work_out();
    return end_group(run);
}

// Works out when members end, once all have entered. Returns false if a time is out of range.
bool Ahead::end_group(AheadRun& run) {
    const int n = run.rounds.members;
    run.group_ends.assign(run.count(), {});
    for (int place = 0; place < n; ++place) {
        AheadRun::End& end = run.group_ends[AheadRun::at(place)];
        RoundTraffic& traffic = run.traffic[AheadRun::at(place)] = {.messages = n - 1};
        for (int other = 0; other < n; ++other) {
            if (other == place) continue;
            traffic.sent += run.group.block(other);
            traffic.received += run.group.block(place);
            const Time drain = run.group.flow(place, other).drain;
            if (drain > end.at) end = {drain, EventRank::drains};
            const Time arrival =
                later(run.group.flow(other, place).drain, wire(run, other, place).latency);
            if (arrival >= end.at) end = {arrival, EventRank::arrives};
        }
        if (end.at > latest_of_group) return false;
    }
    for (int place = 0; place < n; ++place) {
        const AheadRun::End& end = run.group_ends[AheadRun::at(place)];
        schedule_end(run, place, end.at, end.by);
    }
    return true;
}

// Notes all messages among members that are here; what does not follow from the recurrence sets out
// now.
void Ahead::replay_group(AheadRun& run) {
    run.group.work_out();
    const auto message = [&](int from, int to) -> RoundMessage {
        RoundMessage sent{.set_out = simulation_.now()};
        if (!run.group.is_here(from) || !run.group.is_here(to)) return sent;
        const GroupedTimes::Flow flow = run.group.flow(from, to);
        const Wire wire = this->wire(run, from, to);
        return {flow.set_out, flow.drain, later(flow.drain, wire.latency), run.group.block(to),
                wire.apart};
    };
    for (int place = 0; place < run.rounds.members; ++place)
        if (run.is_here(place)) run.times.open_all(place, run.entries[AheadRun::at(place)]);
    for (int place = 0; place < run.rounds.members; ++place) {
        if (!run.is_here(place)) continue;
        for (int round = 0; round < run.rounds.count; ++round)
            if (const int to = run.rounds.who(place, round).to; run.is_here(to))
                run.times.put(place, round, message(place, to));
    }
}

}  // namespace paceline
