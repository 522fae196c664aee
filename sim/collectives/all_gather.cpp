#include "sim/collectives/all_gather.hpp"

#include <algorithm>
#include <utility>

#include "sim/collectives/schedule.hpp"
#include "sim/collectives/staging.hpp"

namespace paceline {

Task<> ring_all_gather(Rank self, Bytes block) {
    const int n = self.size();
    const int next = wrapped(self.place() + 1, n);
    const int prev = wrapped(self.place() + n - 1, n);

    for (int step = 0; step < n - 1; ++step) co_await self.exchange(next, block, prev);
}

Task<> bruck_all_gather(Rank self, Bytes block) {
    const int n = self.size();

    for (int held = 1; held < n; held *= 2) {
        const int to = wrapped(self.place() + n - held, n);
        const int from = wrapped(self.place() + held, n);
        co_await self.exchange(to, std::min(held, n - held) * block, from);
    }
}

namespace {

Task<> ring_all_gather_of(Rank self, const BlockWeight& block) {
    const int n = self.size();
    const int next = wrapped(self.place() + 1, n);
    const int prev = wrapped(self.place() + n - 1, n);

    for (int step = 0; step < n - 1; ++step)
        co_await self.exchange(next, block(wrapped(self.place() + n - step, n)), prev);
}

Task<> bruck_all_gather_of(Rank self, const BlockWeight& block) {
    const int n = self.size();

    for (int held = 1; held < n; held *= 2) {
        const int to = wrapped(self.place() + n - held, n);
        const int from = wrapped(self.place() + held, n);
        Bytes size;
        for (int i = 0; i < std::min(held, n - held); ++i)
            size += block(wrapped(self.place() + i, n));
        co_await self.exchange(to, size, from);
    }
}

}  // namespace

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
