#include "sim/ahead/ring_times.hpp"

#include <algorithm>

namespace paceline {

namespace {

using Ticks = std::int64_t;

// Times stay below this, so that no sum overflows.
constexpr Ticks most_ticks = std::int64_t{1} << 61U;

// Arrays of this many places fit into a first-level cache together.
constexpr std::size_t block = 512;

Ticks ticks(Time at) {
    return at.time_since_epoch().count();
}

// drain = max(begin, begin of the next, drain before) + time, for places first .. last - 1.
void drain_messages(const Ticks* __restrict begin, const Ticks* __restrict time,
                    Ticks* __restrict drain, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
        drain[i] = std::max(std::max(begin[i], begin[i + 1]), drain[i]) + time[i];
}

// The round ends where the own message has drained, and that of the place before has arrived.
// Requires first > 0.
void end_rounds(const Ticks* __restrict drain, const Ticks* __restrict latency,
                Ticks* __restrict begin, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
        begin[i] = std::max(drain[i], drain[i - 1] + latency[i - 1]);
}

}  // namespace

bool RingTimes::begin(const MessageRounds& rounds, const std::vector<Wire>& wires,
                      const std::vector<Time>& entries) {
    rounds_ = &rounds;
    n_ = static_cast<std::size_t>(rounds.members);
    width_ = static_cast<std::size_t>(rounds.open_rounds());
    round_ = 0;
    ends_at_once_ = false;
    const Bytes shorter{rounds.chunks.vector.count / rounds.members / rounds.chunks.slices};
    times_.resize(n_);
    longer_times_.resize(n_);
    latency_.resize(n_);
    drain_.assign(n_, 0);
    begins_.resize(width_);
    Duration longest{};
    for (std::size_t i = 0; i < n_; ++i) {
        if (wires[i].is_down) return false;
        times_[i] = wires[i].time(shorter).count();
        longer_times_[i] = wires[i].time(shorter + Bytes{1}).count();
        latency_[i] = wires[i].latency.count();
        longest = std::max({longest, Duration{longer_times_[i]}, wires[i].latency});
    }
    begins_[0].resize(n_ + 1);
    std::ranges::transform(entries, begins_[0].begin(), ticks);
    const Ticks latest = *std::max_element(begins_[0].begin(), begins_[0].end() - 1);
    for (std::size_t turn = 1; turn < width_; ++turn) begins_[turn] = begins_[0];
    return longest.count() < (most_ticks - latest) / (2 * (Ticks{rounds.count} + 1));
}

// Members with the longer chunk, and whether their slice of this round is longer than that of the
// others.
void RingTimes::take_round() {
    const int n = rounds_->members;
    const PassedChunks& chunks = rounds_->chunks;
    const int step = round_ / chunks.slices;
    const int slice = round_ % chunks.slices;
    const auto longer = static_cast<std::size_t>(chunks.vector.count % n);
    const Bytes chunk{chunks.vector.count / n};
    const Bytes shorter{chunk.count / chunks.slices};
    const auto is_longer = [&](Bytes of) { return part_of(of, chunks.slices, slice) > shorter; };
    // Chunk c is longer from n - longer on, and member p sends chunk (first + p - step) mod n
    const auto first =
        static_cast<std::size_t>((3 * n - static_cast<int>(longer) - chunks.first % n + step) % n);
    const std::size_t past = first + longer;
    const Ticks* const outer = times_of(is_longer(chunk)).data();
    const Ticks* const inner = times_of(is_longer(chunk + Bytes{1})).data();

    std::vector<Ticks>& begins = begins_[static_cast<std::size_t>(round_) % width_];
    begins[n_] = begins[0];
    Ticks* const begin = begins.data();
    Ticks* const drain = drain_.data();
    const auto drain_range = [&](std::size_t from, std::size_t to) {
        const auto part = [&](const Ticks* time, std::size_t low, std::size_t high) {
            low = std::max(low, from);
            high = std::min(high, to);
            if (low < high) drain_messages(begin, time, drain, low, high);
        };
        if (past <= n_) {
            part(outer, 0, first);
            part(inner, first, past);
            part(outer, past, n_);
        } else {
            part(inner, 0, past - n_);
            part(outer, past - n_, first);
            part(inner, first, n_);
        }
    };
    for (std::size_t from = 0; from < n_; from += block) {
        const std::size_t to = std::min(from + block, n_);
        drain_range(from, to);
        end_rounds(drain, latency_.data(), begin, std::max<std::size_t>(from, 1), to);
    }
    begin[0] = std::max(drain[0], drain[n_ - 1] + latency_[n_ - 1]);
    ++round_;
}

bool RingTimes::run_on(int rounds) {
    for (; rounds > 0 && round_ + 1 < rounds_->count; --rounds) take_round();
    return round_ + 1 >= rounds_->count;
}

void RingTimes::run_to_end() {
    run_on(rounds_->count);
    const std::vector<Ticks>& begins = begins_[static_cast<std::size_t>(round_) % width_];
    set_out_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
        set_out_[i] = std::max({begins[i], begins[i + 1 < n_ ? i + 1 : 0], drain_[i]});
    take_round();
    for (int place = 0; place < rounds_->members; ++place) {
        const auto at = static_cast<std::size_t>(place);
        const std::size_t before = at > 0 ? at - 1 : n_ - 1;
        ends_at_once_ |= ends_by(place) == EventRank::drains
                             ? drain_[at] == set_out_[at]
                             : drain_[before] + latency_[before] == set_out_[before];
    }
}

// Members end rounds one after the other, so of several rounds the last one is ended last.
void RingTimes::run_blocks_before(Time now, int rounds) {
    while (round_ < rounds_->count) {
        const int round = round_;
        const std::vector<Ticks> drain = drain_;
        const std::vector<std::vector<Ticks>> begins = begins_;
        for (int i = 0; i < rounds && round_ < rounds_->count; ++i) take_round();
        const std::vector<Ticks>& ends = begins_[static_cast<std::size_t>(round_ - 1) % width_];
        if (*std::max_element(ends.begin(), ends.end() - 1) < ticks(now)) continue;
        round_ = round;
        drain_ = drain;
        begins_ = begins;
        return;
    }
}

RoundTimes::Frontier RingTimes::run_before(Time now) {
    constexpr int at_once = 64;  // between copies of the state
    run_blocks_before(now, at_once);
    run_blocks_before(now, 1);
    return {round_, begins_, drain_};
}

Time RingTimes::end(int place) const {
    const auto last = static_cast<std::size_t>(rounds_->count - 1) % width_;
    return Time{Duration{begins_[last][static_cast<std::size_t>(place)]}};
}

EventRank RingTimes::ends_by(int place) const {
    const auto at = static_cast<std::size_t>(place);
    const std::size_t before = at > 0 ? at - 1 : n_ - 1;
    return drain_[before] + latency_[before] >= drain_[at] ? EventRank::arrives : EventRank::drains;
}

// Whole turns around the ring send the vector once each; whole steps of what remains are summed up.
Bytes RingTimes::sent(int place, int rounds) const {
    const PassedChunks& chunks = rounds_->chunks;
    const int n = rounds_->members;
    const int steps = rounds / chunks.slices;
    const int rest = steps % n;
    const auto longer = static_cast<int>(chunks.vector.count % n);
    // Chunks top, top - 1, ... of the rest, cyclically; those from n - longer on are longer
    const int top = (chunks.first + place) % n;
    const auto longer_up_to = [&](int last) { return std::max(0, last - (n - longer) + 1); };
    const int low = top - rest + 1;
    int more = longer_up_to(top) - (low > 0 ? longer_up_to(low - 1) : 0);
    if (low < 0) more += longer - longer_up_to(n + low - 1);
    if (rest == 0) more = 0;
    Bytes all = (steps / n) * chunks.vector + rest * Bytes{chunks.vector.count / n} + Bytes{more};
    for (int round = steps * chunks.slices; round < rounds; ++round)
        all += sent_in_round(*rounds_, place, round);
    return all;
}

Duration RingTimes::on_wire(int place, int rounds, const Wire& wire) const {
    const Bytes shorter{rounds_->chunks.vector.count / rounds_->members / rounds_->chunks.slices};
    const std::int64_t longer = sent(place, rounds).count - rounds * shorter.count;
    const Duration of_one = wire.time(shorter) - wire.overhead;
    return rounds * of_one + longer * (wire.time(shorter + Bytes{1}) - wire.time(shorter));
}

}  // namespace paceline
