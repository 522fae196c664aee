#include "sim/collectives/sparse_all_reduce.hpp"

#include <utility>

#include "sim/collectives/in_rounds.hpp"

namespace paceline {

Task<> sparse_all_reduce(Rank self, const UnionWeight& weight) {
    const int n = self.size();
    const Fold fold(n);
    const int last = fold.steps + 1;
    const auto who = [fold, last](int place, int round) -> RoundOfMember {
        if (fold.drops_out(place))
            return {round == 0 ? place + 1 : -1, round == last ? place + 1 : -1};
        const int me = fold.survivor(place);
        const int other = fold.stands_for_two(me) ? place - 1 : -1;
        if (round == 0) return {.from = other};
        if (round == last) return {.to = other};
        const int partner = fold.place(me ^ (1 << (round - 1)));
        return {partner, partner};
    };
    const auto sent = [n, fold, last, weight](int place, int round) {
        if (round == 0) return weight({place, -1, 1});
        if (round == last) return weight({0, fold.steps, n});
        const int step = round - 1;
        const int me = fold.survivor(place);
        return weight({me & ~((1 << step) - 1), step, fold.contributions(me, step)});
    };
    return in_rounds(std::move(self), {n, last + 1, Partners::doubling, who, sent, {}});
}

}  // namespace paceline
