#include "analysis/forms/inside_forms.hpp"

#include "analysis/forms/closed_forms.hpp"

namespace paceline {

Duration inside_machine_time(int g, Bytes size, const IdleStar& bus) {
    if (g == 1) return {};
    const Bytes others{size.count - size.count / g};
    return sum(ring_reduce_scatter_time(g, size, bus), sum(bus.latency, others / bus.bandwidth));
}

IdleNetwork between_leaders(const IdleNetwork& network) {
    const IdleStar bus = network.bus.value_or(network.star);
    return {capped(network.star, bus.bandwidth), std::nullopt, 1};
}

IdleNetwork lane_between_islands(const IdleNetwork& network) {
    IdleNetwork lane = between_leaders(network);
    if (network.islands == IslandLanes::leaders) return lane;
    const IdleStar& card = network.star;
    const Bandwidth all = card.card.value_or(card.bandwidth);
    lane.star = capped(lane.star, Bandwidth{all.bits_per_second / network.sharing()});
    return lane;
}

Bytes longest_part(Bytes size, const IdleNetwork& network) {
    const int lanes = network.islands == IslandLanes::leaders ? 1 : network.devices;
    return {size.count / lanes + (size.count % lanes > 0 ? 1 : 0)};
}

Duration inside_island_time(Bytes size, const IdleNetwork& network) {
    const IdleStar bus = network.bus.value_or(network.star);
    switch (network.islands) {
        case IslandLanes::leaders:
            return inside_machine_time(network.devices, size, bus);
        case IslandLanes::shards:
            return ring_reduce_scatter_time(network.devices, size, bus);
        case IslandLanes::kept:
        case IslandLanes::none:
            break;
    }
    return {};
}

}  // namespace paceline
