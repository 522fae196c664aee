// Arithmetic shared by collectives and their closed forms: how a vector is cut, and how a group
// that is not a power of two is folded onto one that is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/ahead/message_rounds.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns the bytes of chunks first .. first+count-1 when `size` is cut into n chunks. Each chunk
/// has floor(size / n) bytes, and the last size mod n chunks have one byte more. Requires 0 <=
/// first, 0 <= count, first + count <= n.
constexpr Bytes chunks(Bytes size, int n, int first, int count) {
    const auto longer = static_cast<int>(size.count % n);
    const int from = first > n - longer ? first : n - longer;
    const int longer_here = first + count > from ? first + count - from : 0;
    return {size.count / n * count + longer_here};
}

constexpr Bytes chunk(Bytes size, int n, int index) {
    return chunks(size, n, index, 1);
}

/// Returns a mod n. Requires 0 <= a < 2n.
constexpr int wrapped(int a, int n) {
    return a < n ? a : a - n;
}

/// Returns rounds in which members pass chunks around a ring for `steps` steps, in so many slices
/// each, of which `in_flight` are under way at a time, or `slots` of each receiver are granted
/// ahead; member p begins with chunk (first + p) mod n.
inline MessageRounds ring_of_chunks(int n, int steps, Bytes size, int first, int slices = 1,
                                    int in_flight = 1, int slots = 0) {
    const auto who = [n](int place, int) -> RoundOfMember {
        return {wrapped(place + 1, n), wrapped(place + n - 1, n)};
    };
    return {.members = n,
            .count = n == 1 ? 0 : steps * slices,
            .partners = Partners::ring,
            .who = who,
            .chunks = {size, first, slices},
            .in_flight = std::min(in_flight, slices),
            .slots = slots};
}

/// Folds a group of n places onto the largest power of two. Among the first 2 `extra` places, the
/// even ones hand their vector to the odd ones and drop out until the result comes back.
struct Fold {
    int survivors;  // 2^floor(log2 n)
    int extra;      // n - survivors
    int steps;      // log2(survivors)

    explicit constexpr Fold(int n)
        : survivors(static_cast<int>(std::bit_floor(static_cast<unsigned>(n)))),
          extra(n - survivors),
          steps(std::countr_zero(static_cast<unsigned>(survivors))) {}

    [[nodiscard]] constexpr bool drops_out(int place) const {
        return place < 2 * extra && place % 2 == 0;
    }
    /// Returns whether this survivor also stands for a place that dropped out.
    [[nodiscard]] constexpr bool stands_for_two(int survivor) const { return survivor < extra; }
    /// Returns the number of a place among the survivors. Requires !drops_out(place).
    [[nodiscard]] constexpr int survivor(int place) const {
        return place < 2 * extra ? place / 2 : place - extra;
    }
    [[nodiscard]] constexpr int place(int survivor) const {
        return survivor < extra ? 2 * survivor + 1 : survivor + extra;
    }
    /// Returns how many of the n contributions the survivor's aligned block of 2^step survivors
    /// holds.
    [[nodiscard]] constexpr int contributions(int survivor, int step) const {
        const int width = 1 << step;
        const int first = survivor & ~(width - 1);
        return width + std::clamp(extra - first, 0, width);
    }
};

}  // namespace paceline
