#include "sim/collectives/all_to_all.hpp"

#include "sim/collectives/schedule.hpp"

namespace paceline {

Task<> all_to_all(Rank self, Bytes block) {
    const BlockWeight equal = [block](int) { return block; };
    co_await all_to_all(self, equal);
}

Task<> all_to_all(Rank self, const BlockWeight& block) {
    const int n = self.size();
    for (int round = 1; round < n; ++round) {
        const int to = wrapped(self.place() + round, n);
        const int from = wrapped(self.place() + n - round, n);
        co_await self.exchange(to, block(to), from);
    }
}

}  // namespace paceline
