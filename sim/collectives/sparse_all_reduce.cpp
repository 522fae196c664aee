#include "sim/collectives/sparse_all_reduce.hpp"

namespace paceline {

Task<> sparse_all_reduce(Rank self, const UnionWeight& weight) {
    const Fold fold(self.size());
    const int place = self.place();
    if (fold.drops_out(place)) {
        co_await self.send(place + 1, weight({place, -1, 1}));
        co_await self.receive(place + 1);
        co_return;
    }
    const int me = fold.survivor(place);
    if (fold.stands_for_two(me)) co_await self.receive(place - 1);

    for (int step = 0; step < fold.steps; ++step) {
        const int first = me & ~((1 << step) - 1);
        const int partner = fold.place(me ^ (1 << step));
        const Bytes mine = weight({first, step, fold.contributions(me, step)});
        co_await self.exchange(partner, mine, partner);
    }

    if (fold.stands_for_two(me))
        co_await self.send(place - 1, weight({0, fold.steps, self.size()}));
}

}  // namespace paceline
