#include "sim/collectives/staging.hpp"

#include <cstdint>
#include <utility>

namespace paceline {

Duration staging_time(const Rank& self, Bytes size) {
    if (!self.staging() || self.size() == 1) return {};
    const int machine = self.network().machine_of(self.node(self.place()));
    std::int64_t together = 0;
    for (int place = 0; place < self.size(); ++place)
        if (self.network().machine_of(self.node(place)) == machine) ++together;
    return (together * size) / *self.staging();
}

Task<> staged(Rank self, Bytes in, std::function<Bytes()> out, Task<> messages) {
    co_await self.network().simulation().sleep(staging_time(self, in));
    co_await std::move(messages);
    co_await self.network().simulation().sleep(staging_time(self, out()));
}

}  // namespace paceline
