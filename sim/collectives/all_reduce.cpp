#include "sim/collectives/all_reduce.hpp"

#include "sim/collectives/schedule.hpp"

namespace paceline {

Task<> ring_all_reduce(Rank self, Bytes size) {
    const int n = self.size();
    const int next = wrapped(self.place() + 1, n);
    const int prev = wrapped(self.place() + n - 1, n);

    int block = self.place();
    for (int step = 0; step < 2 * (n - 1);
         ++step) {  // n-1 of reduce-scatter, then n-1 of all-gather
        co_await self.exchange(next, chunk(size, n, block), prev);
        block = wrapped(block + n - 1, n);
    }
}

Task<> recursive_doubling_all_reduce(Rank self, Bytes size) {
    const Fold fold(self.size());
    const int place = self.place();
    if (fold.drops_out(place)) {
        co_await self.send(place + 1, size);
        co_await self.receive(place + 1);
        co_return;
    }
    const int me = fold.survivor(place);
    if (fold.stands_for_two(me)) co_await self.receive(place - 1);

    for (int step = 0; step < fold.steps; ++step) {
        const int partner = fold.place(me ^ (1 << step));
        co_await self.exchange(partner, size, partner);
    }

    if (fold.stands_for_two(me)) co_await self.send(place - 1, size);
}

Task<> halving_doubling_all_reduce(Rank self, Bytes size) {
    const Fold fold(self.size());
    const int place = self.place();
    if (fold.drops_out(place)) {
        co_await self.send(place + 1, size);
        co_await self.receive(place + 1);
        co_return;
    }
    const int me = fold.survivor(place);
    const int n = fold.survivors;
    if (fold.stands_for_two(me)) co_await self.receive(place - 1);

    int first = 0;  // chunks still to reduce here: first .. first + 2 * width - 1
    for (int width = n / 2; width >= 1; width /= 2) {
        const bool keep_high = (me & width) != 0;
        const int away = keep_high ? first : first + width;
        const int partner = fold.place(me ^ width);
        co_await self.exchange(partner, chunks(size, n, away, width), partner);
        if (keep_high) first += width;
    }
    for (int width = 1; width < n; width *= 2) {  // complete here: first .. first + width - 1
        const int partner = fold.place(me ^ width);
        co_await self.exchange(partner, chunks(size, n, first, width), partner);
        first &= ~width;
    }

    if (fold.stands_for_two(me)) co_await self.send(place - 1, size);
}

}  // namespace paceline
