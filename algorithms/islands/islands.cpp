#include "algorithms/islands/islands.hpp"

#include <cstddef>
#include <memory>
#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

std::vector<int> devices_in_place(const IslandMembers& members, int place) {
    std::vector<int> devices;
    for (const std::vector<int>& island : members)
        devices.push_back(island[static_cast<std::size_t>(place)]);
    return devices;
}

}  // namespace

Task<> on_islands(Worker& device, SharedValue<IslandOptions> options,
                  std::function<Task<>(Worker&)> outer) {
    Island island = island_of(device.rank(), *options);
    Worker inside = device.among(device.group(island.members()));
    const std::unique_ptr<InnerMethod> inner = inner_method(inside, *options, island.number);
    island.inner = inner.get();
    if (island.islands() == 1)
        island.lane = device.group({device.rank()});
    else if (island.place < island.lanes)
        island.lane = device.group(devices_in_place(options->members, island.place));
    Worker self = device.as(island);
    co_await outer(self);
}

}  // namespace paceline
