#include "sim/collectives/plans/hierarchical.hpp"

#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/reduce_scatter.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

Task<> hierarchical_all_reduce(Rank self, Bytes size, int devices) {
    PACELINE_CHECK(devices >= 1 && self.size() % devices == 0,
                   "machines have equally many devices");
    const int machines = self.size() / devices;
    const int machine = self.place() / devices;
    const int device = self.place() % devices;
    const Rank inside = self.part(machine * devices, 1, devices);
    const Rank between = self.part(device, devices, machines);

    co_await ring_reduce_scatter(inside, size);
    co_await ring_all_reduce(between, chunk(size, devices, device));
    co_await ring_all_gather_chunks(inside, size);
}

}  // namespace paceline
