// The reader of "mesh" and its row, which would stand in app/scenario/cluster/fabrics.cpp.
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "examples/adding/mesh.hpp"
#include "examples/adding/rows.hpp"
#include "topologies/fabrics/cables.hpp"

namespace paceline {

namespace {

constexpr auto mesh_keys = std::to_array<std::string_view>({"kind", "link", "overhead"});

FabricChoice read_mesh(const ObjectReader& read, NodeDraw draw) {
    const Link link = read_link(read.required("link", "such as {\"bandwidth\": \"10Gbps\"}"));
    const std::int64_t cables = std::int64_t{draw.nodes} * (draw.nodes - 1) / 2;
    if (cables > most_cables)
        read.place().refuse(fmt::format("{} nodes are {} cables; at most {} have a number",
                                        draw.nodes, cables, most_cables));
    FabricChoice choice;
    choice.make = [link](int hosts, std::uint64_t /*seed*/) { return make_mesh(hosts, link); };
    if (const auto p = read.optional("overhead")) choice.overhead = as_duration(*p);
    choice.memory = cables * Bytes{256};  // as measured for an idle cable of another fabric
    return choice;
}

constexpr auto fabrics = std::to_array<FabricEntry>({
    {"mesh", "a cable for every pair of nodes, no switch", mesh_keys, &read_mesh},
});

}  // namespace

std::span<const FabricEntry> example_fabrics() {
    return fabrics;
}

}  // namespace paceline
