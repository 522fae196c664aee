#include "algorithms/runtime/island.hpp"

#include "sim/collectives/inside_machine.hpp"
#include "sim/collectives/meeting.hpp"
#include "sim/collectives/reduce_scatter.hpp"

namespace paceline {

namespace {

// Shards of parameters stay where they are, but nobody goes on before all of them have come.
bool stays_in_shards(const Island& island) {
    return island.lanes > 1 && island.inner->keeps_shards();
}

}  // namespace

std::string name_of_island(int number) {
    return "island " + std::to_string(number);
}

CollectiveOfOwn messages_inside(const Island& island, Bytes size) {
    if (stays_in_shards(island)) return [](const Rank& rank) { return meet(rank); };
    if (island.lanes > 1)
        return [size](const Rank& rank) { return ring_all_gather_chunks(rank, size); };
    return [size](const Rank& rank) { return broadcast_from_first(rank, size); };
}

std::string_view name_inside(const Island& island) {
    if (stays_in_shards(island)) return "meeting inside islands";
    return island.lanes > 1 ? "all-gather inside islands" : "broadcast inside islands";
}

}  // namespace paceline
