#include "sim/ahead/ring_times.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Ticks = std::int64_t;

// Arrays of this many places fit into a first-level cache together.
constexpr std::size_t block = 512;
// Rounds that are taken while they are there, in rings of so many members that the arrays are not
// there anyway.
constexpr int most_at_once = 8;
constexpr std::size_t many = 2048;
constexpr std::size_t line = 8;  // places in a cache line

Ticks ticks(Time at) {
    return at.time_since_epoch().count();
}

// Where the C library chooses among versions of a function when a program starts.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__clang__) && __clang_major__ >= 18
#define PACELINE_ALSO_AVX512 __attribute__((target_clones("arch=x86-64-v4", "default")))
#else
#define PACELINE_ALSO_AVX512
#endif

// drain = max(begin, begin of the next, drain before) + time, for places first .. last - 1.
PACELINE_ALSO_AVX512 void drain_messages(const Ticks* __restrict begin,
                                         const Ticks* __restrict time, Ticks* __restrict drain,
                                         std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
        drain[i] = std::max({begin[i], begin[i + 1], drain[i]}) + time[i];
}

// The round ends where the own message has drained, and that of the place before has arrived. Reads
// each value once. Requires first > 0.
PACELINE_ALSO_AVX512 void end_rounds(const Ticks* __restrict drain,
                                     const Ticks* __restrict latency_before,
                                     Ticks* __restrict begin, std::size_t first, std::size_t last) {
    Ticks before = drain[first - 1];
    for (std::size_t i = first; i < last; ++i) {
        const Ticks own = drain[i];
        begin[i] = std::max(own, before + latency_before[i]);
        before = own;
    }
}

}  // namespace

bool RingTimes::begin(const MessageRounds& rounds, const std::vector<Wire>& wires,
                      const std::vector<Time>& entries) {
    rounds_ = &rounds;
    n_ = static_cast<std::size_t>(rounds.members);
    width_ = static_cast<std::size_t>(rounds.open_rounds());
    round_ = 0;
    ends_at_once_ = false;
    const bool in_range = chunks_.begin(rounds, wires, std::ranges::max(entries), {});
    if (!in_range || std::ranges::any_of(wires, &Wire::is_down)) return false;
    latency_before_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
        latency_before_[i + 1 < n_ ? i + 1 : 0] = wires[i].latency.count();
    drain_.assign(n_, 0);
    begins_.resize(width_);
    begins_[0].resize(n_ + 1);
    std::ranges::transform(entries, begins_[0].begin(), ticks);
    for (std::size_t turn = 1; turn < width_; ++turn) begins_[turn] = begins_[0];
    return true;
}

// A round needs what a place and both of its neighbors did in the round before. So a block of
// places takes one round after the other, each a cache line further back than the last, and begins
// where the block before it has ended. What lies around the end of the ring comes last.
void RingTimes::take_rounds(int count) {
    PACELINE_CHECK(count == 1 || n_ >= many, "the ends of the ring are apart");
    std::array<Round, most_at_once> all;
    const std::span<Round> rounds(all.data(), static_cast<std::size_t>(count));
    for (int k = 0; Round & round : rounds) {
        round.begin = begins_[static_cast<std::size_t>(round_ + k) % width_].data();
        round.longer = chunks_.longer_in(round_ + k++);
    }
    rounds[0].begin[n_] = rounds[0].begin[0];
    for (std::size_t from = 0; from < n_; from += block) {
        const std::size_t to = std::min(from + block, n_);
        for (std::size_t back = 0; const Round& round : rounds) {
            const std::size_t low = from == 0 ? back : from - back;
            drain_places(round, low, to - back);
            end_places(round, from == 0 ? back + 1 : low, to - back);
            back += line;
        }
    }
    for (std::size_t back = 0; const Round& round : rounds) {
        if (back > 0) {
            round.begin[n_] = round.begin[0];
            drain_places(round, n_ - back, n_);
            drain_places(round, 0, back);
            end_places(round, n_ - back, n_);
            end_places(round, 1, back + 1);
        }
        round.begin[0] = std::max(drain_[0], drain_[n_ - 1] + latency_before_[0]);
        back += line;
    }
    round_ += count;
}

void RingTimes::drain_places(const Round& round, std::size_t first, std::size_t last) {
    chunks_.for_each_range(round.longer, first, last,
                           [&](const Ticks* time, std::size_t low, std::size_t high) {
                               drain_messages(round.begin, time, drain_.data(), low, high);
                           });
}

void RingTimes::end_places(const Round& round, std::size_t first, std::size_t last) {
    end_rounds(drain_.data(), latency_before_.data(), round.begin, first, last);
}

bool RingTimes::run_on(int rounds) {
    const int at_once = n_ >= many ? most_at_once : 1;
    rounds = std::min(rounds, rounds_->count - 1 - round_);
    for (int taken = 0; rounds > 0; rounds -= taken) take_rounds(taken = std::min(rounds, at_once));
    return round_ + 1 >= rounds_->count;
}

void RingTimes::run_to_end() {
    run_on(rounds_->count);
    const TicksOfPlaces& begins = begins_[static_cast<std::size_t>(round_) % width_];
    set_out_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
        set_out_[i] = std::max({begins[i], begins[i + 1 < n_ ? i + 1 : 0], drain_[i]});
    take_rounds(1);
    for (int place = 0; place < rounds_->members; ++place) {
        const auto at = static_cast<std::size_t>(place);
        const std::size_t before = at > 0 ? at - 1 : n_ - 1;
        ends_at_once_ |= ends_by(place) == EventRank::drains
                             ? drain_[at] == set_out_[at]
                             : drain_[before] + latency_before_[at] == set_out_[before];
    }
}

// Members end rounds one after the other, so of several rounds the last one is ended last.
void RingTimes::run_blocks_before(Time now, int rounds) {
    while (round_ < rounds_->count) {
        const int round = round_;
        const TicksOfPlaces drain = drain_;
        const std::vector<TicksOfPlaces> begins = begins_;
        for (int i = 0; i < rounds && round_ < rounds_->count; ++i) take_rounds(1);
        const TicksOfPlaces& ends = begins_[static_cast<std::size_t>(round_ - 1) % width_];
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
    RoundTimes::Frontier frontier{round_, {}, {drain_.begin(), drain_.end()}};
    for (const TicksOfPlaces& begins : begins_)
        frontier.begins.emplace_back(begins.begin(), begins.end());
    return frontier;
}

Time RingTimes::end(int place) const {
    const auto last = static_cast<std::size_t>(rounds_->count - 1) % width_;
    return Time{Duration{begins_[last][static_cast<std::size_t>(place)]}};
}

EventRank RingTimes::ends_by(int place) const {
    const auto at = static_cast<std::size_t>(place);
    const std::size_t before = at > 0 ? at - 1 : n_ - 1;
    return drain_[before] + latency_before_[at] >= drain_[at] ? EventRank::arrives
                                                              : EventRank::drains;
}

}  // namespace paceline
