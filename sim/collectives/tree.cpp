#include "sim/collectives/tree.hpp"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collectives/in_rounds.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

// Returns the first step of a broadcast in which a place sends. It receives in the step before,
// except for the root, which never receives.
int first_step(int place) {
    return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(place)));
}

// Returns the end of the steps in which a place has a partner above it.
int end_step(int place, int n) {
    int step = first_step(place);
    while (place + (std::int64_t{1} << step) < n) ++step;
    return step;
}

MessageRounds broadcast_rounds(int n, Bytes size) {
    const auto who = [n](int place, int step) -> RoundOfMember {
        const int first = first_step(place);
        if (place > 0 && step == first - 1) return {.from = place - (1 << step)};
        const std::int64_t below = place + (std::int64_t{1} << step);
        return {.to = step >= first && below < n ? static_cast<int>(below) : -1};
    };
    return {.members = n,
            .count = first_step(n - 1),
            .partners = Partners::broadcast,
            .who = who,
            .size = [size](int, int) { return size; }};
}

MessageRounds reduce_rounds(int n, Bytes size) {
    MessageRounds rounds = broadcast_rounds(n, size);
    rounds.partners = Partners::reduce;
    rounds.who = [down = std::move(rounds.who), last = rounds.count - 1](
                     int place, int round) -> RoundOfMember {
        const RoundOfMember other = down(place, last - round);
        return {.to = other.from, .from = other.to};
    };
    return rounds;
}

Task<> send_to(Rank self, int to, Bytes size) {
    co_await self.send(to, size);
}

}  // namespace

// In step s, each place below 2^s sends to the place 2^s above it, if there is one.
Task<> binomial_broadcast(Rank self, Bytes size) {
    const int n = self.size();
    return in_rounds(std::move(self), broadcast_rounds(n, size));
}

Task<> broadcast_at_once(Rank self, Bytes size) {
    const int place = self.place();
    const int first = first_step(place);
    const int end = end_step(place, self.size());

    if (place > 0) co_await self.receive(place - (1 << (first - 1)));
    std::vector<Task<>> all;
    for (int step = first; step < end; ++step)
        all.push_back(send_to(self, place + (1 << step), size));
    co_await when_all(std::move(all));
}

// The broadcast's steps, backwards, and the other way.
Task<> binomial_reduce(Rank self, Bytes size) {
    const int n = self.size();
    return in_rounds(std::move(self), reduce_rounds(n, size));
}

Task<> tree_all_reduce(Rank self, Bytes size) {
    const int n = self.size();
    MessageRounds reduce = reduce_rounds(n, size);
    MessageRounds broadcast = broadcast_rounds(n, size);
    const int steps = reduce.count;
    const auto who = [steps, up = std::move(reduce.who), down = std::move(broadcast.who)](
                         int place, int round) {
        return round < steps ? up(place, round) : down(place, round - steps);
    };
    return in_rounds(std::move(self), {.members = n,
                                       .count = 2 * steps,
                                       .partners = Partners::tree,
                                       .who = who,
                                       .size = reduce.size});
}

}  // namespace paceline
