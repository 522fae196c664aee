#include "sim/ahead/ring_chunks.hpp"

namespace paceline {

bool RingChunks::begin(const MessageRounds& rounds, const std::vector<Wire>& wires, Time latest,
                       Duration more) {
    rounds_ = &rounds;
    const std::size_t n = wires.size();
    const Bytes shorter{rounds.chunks.vector.count / rounds.members / rounds.chunks.slices};
    times_.resize(n);
    longer_times_.resize(n);
    Duration longest{};
    for (std::size_t i = 0; i < n; ++i) {
        times_[i] = wires[i].time(shorter).count();
        longer_times_[i] = wires[i].time(shorter + Bytes{1}).count();
        longest = std::max({longest, Duration{longer_times_[i]}, wires[i].latency});
    }
    const Ticks left = most_ticks - latest.time_since_epoch().count();
    return sum(longest, more).count() < left / (2 * (Ticks{rounds.count} + 1));
}

RingChunks::Longer RingChunks::longer_in(int round) const {
    const int n = rounds_->members;
    const PassedChunks& chunks = rounds_->chunks;
    const int step = round / chunks.slices;
    const int slice = round % chunks.slices;
    const auto longer = static_cast<std::size_t>(chunks.vector.count % n);
    const Bytes chunk{chunks.vector.count / n};
    const Bytes shorter{chunk.count / chunks.slices};
    const auto is_longer = [&](Bytes of) { return part_of(of, chunks.slices, slice) > shorter; };
    // Chunk c is longer from n - longer on, and member p sends chunk (first + p - step) mod n
    const auto first =
        static_cast<std::size_t>((3 * n - static_cast<int>(longer) - chunks.first % n + step) % n);
    return {first, first + longer, is_longer(chunk + Bytes{1}), is_longer(chunk)};
}

// Whole turns around the ring send the vector once each; whole steps of what remains are summed up.
Bytes RingChunks::sent(int place, int rounds) const {
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

Duration RingChunks::on_wire(int place, int rounds, const Wire& wire) const {
    const Bytes shorter{rounds_->chunks.vector.count / rounds_->members / rounds_->chunks.slices};
    const std::int64_t longer = sent(place, rounds).count - rounds * shorter.count;
    const Duration of_one = wire.time(shorter) - wire.overhead;
    return rounds * of_one + longer * (wire.time(shorter + Bytes{1}) - wire.time(shorter));
}

}  // namespace paceline
