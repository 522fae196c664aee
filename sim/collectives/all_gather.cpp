#include "sim/collectives/all_gather.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/in_rounds.hpp"
#include "sim/collectives/staging.hpp"

namespace paceline {

namespace {

// Everybody passes on the block that it received in the round before, and its own first.
MessageRounds ring_of_blocks(int n, std::function<Bytes(int place)> block) {
    const auto who = [n](int place, int) -> RoundOfMember {
        return {wrapped(place + 1, n), wrapped(place + n - 1, n)};
    };
    const auto passed = [n, block = std::move(block)](int place, int round) {
        return block(wrapped(place + n - round, n));
    };
    return {n, n - 1, Partners::ring, who, passed, {}};
}

// In round i, everybody sends the blocks of the 2^i places from its own on to the place 2^i before.
MessageRounds bruck_of_blocks(int n, std::function<Bytes(int first, int count)> blocks) {
    const auto who = [n](int place, int round) -> RoundOfMember {
        const int held = 1 << round;
        return {wrapped(place + n - held, n), wrapped(place + held, n)};
    };
    const auto sent = [n, blocks = std::move(blocks)](int place, int round) {
        return blocks(place, std::min(1 << round, n - (1 << round)));
    };
    return {n,
            static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))),
            Partners::bruck,
            who,
            sent,
            {}};
}

Task<> ring_all_gather_of(Rank self, const BlockWeight& block) {
    const int n = self.size();
    return in_rounds(std::move(self), ring_of_blocks(n, block));
}

Task<> bruck_all_gather_of(Rank self, const BlockWeight& block) {
    const int n = self.size();
    const auto sum = [n, block](int first, int count) {
        Bytes size;
        for (int i = 0; i < count; ++i) size += block(wrapped(first + i, n));
        return size;
    };
    return in_rounds(std::move(self), bruck_of_blocks(n, sum));
}

}  // namespace

Task<> ring_all_gather(Rank self, Bytes block) {
    // As many equal chunks, so that no block needs to be asked for
    const int n = self.size();
    return in_ring(std::move(self), {.steps = n - 1, .first = 0, .size = n * block});
}

Task<> bruck_all_gather(Rank self, Bytes block) {
    const int n = self.size();
    return in_rounds(std::move(self),
                     bruck_of_blocks(n, [block](int, int count) { return count * block; }));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as in the other collectives
Task<> all_gather(AllGather how, Rank self, const BlockWeight& block) {
    Task<> messages =
        how == AllGather::ring ? ring_all_gather_of(self, block) : bruck_all_gather_of(self, block);
    if (!self.staging()) return messages;
    const auto all = [&block, n = self.size()] {
        Bytes sum;
        for (int place = 0; place < n; ++place) sum += block(place);
        return sum;
    };
    return staged(self, block(self.place()), all, std::move(messages));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as in the other collectives
Task<> all_gather(AllGather how, Rank self, Bytes block) {
    Task<> messages =
        how == AllGather::ring ? ring_all_gather(self, block) : bruck_all_gather(self, block);
    if (!self.staging()) return messages;
    return staged(self, block, [all = self.size() * block] { return all; }, std::move(messages));
}

}  // namespace paceline
