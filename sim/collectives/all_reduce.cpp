#include "sim/collectives/all_reduce.hpp"

#include <utility>

#include "sim/collectives/chunks.hpp"

namespace paceline {

// n-1 rounds of reduce-scatter, then n-1 of all-gather
RingOfChunks ring_of_all_reduce(int n, Bytes size) {
    return {.steps = 2 * (n - 1), .first = 0, .size = size};
}

Task<> ring_all_reduce(Rank self, Bytes size) {
    const RingOfChunks ring = ring_of_all_reduce(self.size(), size);
    return in_ring(std::move(self), ring);
}

namespace {

// Places that drop out hand their vector over in the first round, and get the result in the last.
RoundOfMember folded(const Fold& fold, int place, int round, int last) {
    const bool drops_out = fold.drops_out(place);
    if (round == 0) {
        if (drops_out) return {.to = place + 1};
        return {.from = fold.stands_for_two(fold.survivor(place)) ? place - 1 : -1};
    }
    if (round == last) {
        if (drops_out) return {.from = place + 1};
        return {.to = fold.stands_for_two(fold.survivor(place)) ? place - 1 : -1};
    }
    return {};
}

}  // namespace

Task<> recursive_doubling_all_reduce(Rank self, Bytes size) {
    const int n = self.size();
    const Fold fold(n);
    const int last = fold.steps + 1;
    const auto who = [fold, last](int place, int round) -> RoundOfMember {
        if (round == 0 || round == last) return folded(fold, place, round, last);
        if (fold.drops_out(place)) return {};
        const int partner = fold.place(fold.survivor(place) ^ (1 << (round - 1)));
        return {partner, partner};
    };
    const auto all = [size](int, int) { return size; };
    return in_rounds(std::move(self), {n, last + 1, Partners::doubling, who, all, {}});
}

Task<> halving_doubling_all_reduce(Rank self, Bytes size) {
    const int n = self.size();
    const Fold fold(n);
    const int last = 2 * fold.steps + 1;
    const auto who = [fold, last](int place, int round) -> RoundOfMember {
        if (round == 0 || round == last) return folded(fold, place, round, last);
        if (fold.drops_out(place)) return {};
        const int width =
            round <= fold.steps ? fold.survivors >> round : 1 << (round - fold.steps - 1);
        const int partner = fold.place(fold.survivor(place) ^ width);
        return {partner, partner};
    };
    const auto sent = [fold, last, size](int place, int round) {
        if (round == 0 || round == last) return size;
        const int n_chunks = fold.survivors;
        const int me = fold.survivor(place);
        if (round <= fold.steps) {  // chunks still to reduce here: first .. first + 2 * width - 1
            const int width = n_chunks >> round;
            const int first = me & ~(2 * width - 1);
            return chunks(size, n_chunks, (me & width) != 0 ? first : first + width, width);
        }
        const int width = 1 << (round - fold.steps - 1);
        // complete here: first .. first + width - 1
        return chunks(size, n_chunks, me & ~(width - 1), width);
    };
    return in_rounds(std::move(self), {n, last + 1, Partners::halving, who, sent, {}});
}

}  // namespace paceline
