#include "sim/ahead/slot_times.hpp"

#include <algorithm>

namespace paceline {

namespace {

using Ticks = std::int64_t;

// Arrays of this many places fit into a first-level cache together.
constexpr std::size_t places_at_once = 256;

Time time_of(Ticks ticks) {
    return ticks < RingChunks::most_ticks ? Time{Duration{ticks}} : never;
}

// When messages of places first .. last - 1 drain.
void drain_granted(const Ticks* __restrict ready, const Ticks* __restrict free,
                   const Ticks* __restrict way_back, const Ticks* __restrict time,
                   Ticks* __restrict drain, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
        drain[i] = std::max(std::max(ready[i], free[i + 1] + way_back[i]), drain[i]) + time[i];
}

}  // namespace

bool SlotTimes::begin(const MessageRounds& rounds, const std::vector<Wire>& wires,
                      const std::vector<Duration>& way_back, const std::vector<Time>& entries) {
    rounds_ = &rounds;
    n_ = static_cast<std::size_t>(rounds.members);
    round_ = 0;
    ends_at_once_ = false;
    Time latest{};
    for (const Time entry : entries)
        if (entry != never) latest = std::max(latest, entry);
    const bool in_range = chunks_.begin(rounds, wires, latest, std::ranges::max(way_back));
    latency_.resize(n_);
    std::ranges::transform(wires, latency_.begin(),
                           [](const Wire& wire) { return wire.latency.count(); });
    way_back_.resize(n_);
    std::ranges::transform(way_back, way_back_.begin(), &Duration::count);
    no_time_.assign(n_, 0);
    entries_.resize(n_ + 1);
    std::ranges::transform(entries, entries_.begin(), [](Time at) {
        return at == never ? RingChunks::most_ticks : at.time_since_epoch().count();
    });
    entries_[n_] = entries_[0];
    drain_.assign(n_, 0);
    const int kept = std::min(std::max(rounds.data_lag(), rounds.slots), rounds.count);
    arrivals_.resize(static_cast<std::size_t>(kept));
    for (std::vector<Ticks>& of_round : arrivals_) of_round.resize(n_ + 1);
    return in_range && std::ranges::none_of(wires, &Wire::is_down);
}

// When the data of this round are there, by place.
const std::vector<Ticks>& SlotTimes::ready() const {
    const int lag = rounds_->data_lag();
    return round_ < lag ? entries_ : arrivals(round_ - lag);
}

// When the slot for this round's message to a place was free there, and how long the news travels.
const std::vector<Ticks>& SlotTimes::slot_free() const {
    return round_ < rounds_->slots ? entries_ : arrivals(round_ - rounds_->slots);
}
const std::vector<Ticks>& SlotTimes::way_back() const {
    return round_ < rounds_->slots ? no_time_ : way_back_;
}

// In this round.
SlotTimes::Ticks SlotTimes::sets_out(std::size_t place) const {
    const Duration back{way_back()[place]};
    const Ticks granted = sum(Duration{slot_free()[place + 1]}, back).count();
    return std::max({ready()[place], granted, drain_[place]});
}

// The arrivals of this round take the place of those that it is the last to need, so each is
// written after it has been read.
void SlotTimes::take_round() {
    const Ticks* const ready_at = ready().data();
    const Ticks* const free_at = slot_free().data();
    const Ticks* const back = way_back().data();
    std::vector<Ticks>& arrive = arrivals_[static_cast<std::size_t>(round_) % arrivals_.size()];
    Ticks* const drain = drain_.data();
    for (std::size_t from = 0; from < n_; from += places_at_once) {
        const std::size_t to = std::min(from + places_at_once, n_);
        chunks_.for_each_range(chunks_.longer_in(round_), from, to,
                               [&](const Ticks* time, std::size_t low, std::size_t high) {
                                   drain_granted(ready_at, free_at, back, time, drain, low, high);
                               });
        for (std::size_t i = std::max<std::size_t>(from, 1); i < to; ++i)
            arrive[i] = drain[i - 1] + latency_[i - 1];
    }
    arrive[0] = arrive[n_] = drain[n_ - 1] + latency_[n_ - 1];
    ++round_;
}

bool SlotTimes::run_on(int rounds) {
    for (; rounds > 0 && round_ + 1 < rounds_->count; --rounds) take_round();
    return round_ + 1 >= rounds_->count;
}

void SlotTimes::run_to_end() {
    run_on(rounds_->count);
    std::vector<Ticks> set_outs(n_);
    for (std::size_t i = 0; i < n_; ++i) set_outs[i] = sets_out(i);
    take_round();
    for (int place = 0; place < rounds_->members; ++place) {
        const auto at = static_cast<std::size_t>(place);
        const std::size_t before = at > 0 ? at - 1 : n_ - 1;
        const Time set_out{Duration{set_outs[ends_by(place) == EventRank::drains ? at : before]}};
        ends_at_once_ |= end(place) == set_out;
    }
}

Time SlotTimes::end(int place) const {
    const auto at = static_cast<std::size_t>(place);
    return Time{Duration{std::max(drain_[at], arrivals(rounds_->count - 1)[at])}};
}

EventRank SlotTimes::ends_by(int place) const {
    const auto at = static_cast<std::size_t>(place);
    return arrivals(rounds_->count - 1)[at] >= drain_[at] ? EventRank::arrives : EventRank::drains;
}

// Also where times are out of range. Returns when messages set out.
std::vector<SlotTimes::Ticks> SlotTimes::take_saturating_round() {
    std::vector<Ticks> set_out(n_);
    for (std::size_t i = 0; i < n_; ++i) set_out[i] = sets_out(i);
    chunks_.for_each_range(chunks_.longer_in(round_), 0, n_,
                           [&](const Ticks* time, std::size_t low, std::size_t high) {
                               for (std::size_t i = low; i < high; ++i)
                                   drain_[i] = sum(Duration{set_out[i]}, Duration{time[i]}).count();
                           });
    std::vector<Ticks>& arrive = arrivals_[static_cast<std::size_t>(round_) % arrivals_.size()];
    for (std::size_t i = 0; i < n_; ++i)
        arrive[i + 1] = sum(Duration{drain_[i]}, Duration{latency_[i]}).count();
    arrive[0] = arrive[n_];
    ++round_;
    return set_out;
}

std::vector<SlotTimes::Member> SlotTimes::members_by(const RoundTimes::HasHappened& happened,
                                                     const std::vector<Wire>& wires) {
    std::vector<Member> members(n_);
    for (std::size_t i = 0; i < n_; ++i)
        members[i].posts.assign(static_cast<std::size_t>(std::min(rounds_->slots, rounds_->count)),
                                time_of(entries_[i]));
    // A message that has not drained when its member's next one is looked for is that one. A member
    // is done with when its next message is known, and all that have drained were looked at.
    std::vector<bool> knows_next(n_);
    std::size_t left = n_;
    while (left > 0 && round_ < rounds_->count) {
        const int round = round_;
        const std::vector<Ticks> set_out = take_saturating_round();
        for (std::size_t i = 0; i < n_; ++i) {
            if (knows_next[i]) continue;
            const std::size_t to = i + 1 < n_ ? i + 1 : 0;
            const RoundMessage message{
                time_of(set_out[i]), time_of(drain_[i]), time_of(arrivals(round)[to > 0 ? to : n_]),
                sent_in_round(*rounds_, static_cast<int>(i), round), wires[i].apart};
            Member& sender = members[i];
            if (message.drain == never ||
                !happened(message.drain, EventRank::drains, static_cast<int>(i))) {
                sender.next = message;
                knows_next[i] = true;
                --left;
                continue;
            }
            ++sender.drained;
            Member& receiver = members[to];
            if (!happened(message.arrive, EventRank::arrives, static_cast<int>(to))) {
                receiver.crossing.push_back(message);
                continue;
            }
            ++receiver.delivered;
            receiver.posts.erase(receiver.posts.begin());
            if (round + rounds_->slots < rounds_->count)
                receiver.posts.push_back(message.arrive + Duration{way_back_[i]});
        }
    }
    return members;
}

}  // namespace paceline
