#include "sim/ahead/round_times.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Beyond this, times are those of the engine's own arithmetic, which saturates.
constexpr Time latest_time{Duration{std::int64_t{1} << 61U}};

}  // namespace

void RoundTimes::begin(const MessageRounds& rounds, WireOf wire) {
    rounds_ = &rounds;
    wire_ = std::move(wire);
    happened_ = nullptr;
    report_ = nullptr;
    width_ = static_cast<std::size_t>(rounds.open_rounds());
    const auto members = static_cast<std::size_t>(rounds.members);
    members_.assign(members, {});
    slots_.resize(members * width_);
    work_.clear();
    ended_.clear();
    failed_ = false;
}

int RoundTimes::last_open(int place) const {
    return std::min(rounds_->count, of(place).ended + static_cast<int>(width_));
}

bool RoundTimes::has_drained(int place, int round) const {
    const OpenRound& own = open(place, round);
    if (own.role.to < 0) return true;
    return own.sent.drain != never && happened(own.sent.drain, EventRank::drains, place);
}

bool RoundTimes::has_received(int place, int round) const {
    const OpenRound& own = open(place, round);
    if (own.role.from < 0) return true;
    return own.received.arrive != never && happened(own.received.arrive, EventRank::arrives, place);
}

void RoundTimes::begin_round(int place, int round, Time at) {
    slots_[slot(place, round)] = {.role = rounds_->who(place, round), .begin = at};
}

void RoundTimes::enter(int place, Time at) {
    Member& member = members_[static_cast<std::size_t>(place)];
    PACELINE_CHECK(!member.here, "a member enters once");
    member.here = true;
    for (int round = 0; round < last_open(place); ++round) begin_round(place, round, at);
    work_.push_back(place);
    if (const int from = open(place, 0).role.from; from >= 0) work_.push_back(from);
    propagate();
}

void RoundTimes::open_all(int place, Time at) {
    members_[static_cast<std::size_t>(place)].here = true;
    for (int round = 0; round < rounds_->count; ++round) begin_round(place, round, at);
}

void RoundTimes::put(int place, int round, const RoundMessage& message) {
    OpenRound& own = slots_[slot(place, round)];
    own.sent = slots_[slot(own.role.to, round)].received = message;
}

void RoundTimes::stand(int place, int round, const OpenRound& at, const RoundTraffic& traffic) {
    Member& member = members_[static_cast<std::size_t>(place)];
    member.here = true;
    member.ended = member.sent = round;
    member.traffic = traffic;
    if (round == rounds_->count) return;
    OpenRound& own = slots_[slot(place, round)] = at;
    own.role = rounds_->who(place, round);
    if (!has_drained(place, round) || !has_received(place, round)) return;
    ++member.sent;
    end_next(place);
}

void RoundTimes::resume(const Frontier& frontier, const std::vector<RoundTraffic>& traffic) {
    for (int place = 0; place < rounds_->members; ++place) {
        const auto at = static_cast<std::size_t>(place);
        Member& member = members_[at];
        member.here = true;
        member.ended = member.sent = frontier.round;
        member.last_drain = Time{Duration{frontier.drain[at]}};
        member.traffic = traffic[at];
        for (int round = frontier.round; round < last_open(place); ++round) {
            const auto turn = static_cast<std::size_t>(round) % width_;
            begin_round(place, round, Time{Duration{frontier.begins[turn][at]}});
        }
        work_.push_back(place);
    }
    propagate();
}

void RoundTimes::propagate() {
    while (!work_.empty()) {
        const int place = work_.back();
        work_.pop_back();
        if (!of(place).here) continue;
        bool moves = true;
        while (moves) {
            moves = send_next(place);
            moves |= end_next(place);
        }
    }
}

// The member's next message sets out, if all that it depends on is known.
bool RoundTimes::send_next(int place) {
    Member& member = members_[static_cast<std::size_t>(place)];
    const int round = member.sent;
    if (round >= last_open(place)) return false;
    OpenRound& own = slots_[slot(place, round)];
    if (own.role.to < 0) {
        ++member.sent;
        return true;
    }
    if (!has_begun(own.role.to, round)) return false;
    Time at = std::max(own.begin, open(own.role.to, round).begin);
    if (rounds_->relays && own.role.from >= 0) {
        if (!has_received(place, round)) return false;
        at = std::max(at, own.received.arrive);
    }
    if (width_ > 1 && round > 0) {
        if (!happened(member.last_drain, EventRank::drains, place)) return false;
        at = std::max(at, member.last_drain);
    }
    set_out(place, round, at);
    ++member.sent;
    return true;
}

void RoundTimes::set_out(int place, int round, Time at) {
    OpenRound& own = slots_[slot(place, round)];
    OpenRound& other = slots_[slot(own.role.to, round)];
    const Wire wire = wire_(place, own.role.to);
    const Bytes size = sent_in_round(*rounds_, place, round);
    const Time drain = later(at, wire.time(size));
    own.sent = other.received = {at, drain, later(drain, wire.latency), size, wire.apart};
    members_[static_cast<std::size_t>(place)].last_drain = drain;
    failed_ |= wire.is_down || own.sent.arrive > latest_time;
    work_.push_back(own.role.to);
}

// The member's first open round ends, if both of its parts are known.
bool RoundTimes::end_next(int place) {
    Member& member = members_[static_cast<std::size_t>(place)];
    const int round = member.ended;
    if (round >= rounds_->count || round >= member.sent) return false;
    const OpenRound own = open(place, round);
    if (!has_drained(place, round) || !has_received(place, round)) return false;
    Time end = own.begin;
    if (own.role.to >= 0) {
        end = own.sent.drain;
        member.ends_by = EventRank::drains;
        member.ends_at_once = own.sent.drain == own.sent.set_out;
        if (own.sent.apart) member.traffic.sent += own.sent.size;
        if (report_) report_(place, own.role.to, own.sent);
    }
    if (own.role.from >= 0) {
        if (own.received.arrive >= end) {
            end = own.received.arrive;
            member.ends_by = EventRank::arrives;
            member.ends_at_once = own.received.arrive == own.received.set_out;
        }
        ++member.traffic.messages;
        if (own.received.apart) member.traffic.received += own.received.size;
    }
    ++member.ended;
    const int next = round + static_cast<int>(width_);
    if (next < rounds_->count) {
        begin_round(place, next, end);
        if (const int from = open(place, next).role.from; from >= 0) work_.push_back(from);
    }
    if (member.ended == rounds_->count) {
        failed_ |= member.ends_at_once;
        member.end = end;
        ended_.push_back(place);
    }
    return true;
}

}  // namespace paceline
