#include "app/scenario/cluster/fabrics.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/cluster/graph_wires.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/cluster/other_links.hpp"
#include "app/scenario/cluster/region_wires.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "sim/network/loss.hpp"
#include "topologies/fabrics/cables.hpp"
#include "topologies/fabrics/cell.hpp"
#include "topologies/fabrics/dumbbell.hpp"
#include "topologies/fabrics/fat_tree.hpp"
#include "topologies/fabrics/graph.hpp"
#include "topologies/fabrics/leaf_spine.hpp"
#include "topologies/fabrics/regions.hpp"
#include "topologies/fabrics/star.hpp"
#include "topologies/fabrics/torus.hpp"

namespace paceline {

namespace {

constexpr auto star_keys =
    std::to_array<std::string_view>({"kind", "link", "other_links", "server_link", "overhead"});
constexpr auto cell_keys =
    std::to_array<std::string_view>({"kind", "link", "other_links", "nodes_per_cell", "capacity",
                                     "capacity_up", "backhaul", "server_link", "overhead"});
constexpr auto leaf_spine_keys = std::to_array<std::string_view>(
    {"kind", "link", "hosts_per_leaf", "spines", "uplink", "oversubscription", "overhead"});
constexpr auto fat_tree_keys =
    std::to_array<std::string_view>({"kind", "link", "uplink", "k", "overhead"});
constexpr auto torus_keys = std::to_array<std::string_view>({"kind", "link", "dims", "overhead"});
constexpr auto ring_keys = std::to_array<std::string_view>({"kind", "link", "overhead"});
constexpr auto dumbbell_keys =
    std::to_array<std::string_view>({"kind", "link", "bottleneck", "overhead"});
constexpr auto graph_keys =
    std::to_array<std::string_view>({"kind", "link", "switches", "cables", "overhead"});

constexpr auto regions_keys = std::to_array<std::string_view>(
    {"kind", "regions", "link", "bandwidth", "latency", "loss", "overhead"});

constexpr std::int64_t most_of_a_kind = 100'000'000;  // the largest possible number of nodes

Link required_link(const ObjectReader& read) {
    return read_link(read.required("link", "for example {\"bandwidth\": \"10Gbps\"}"));
}

Duration overhead_of(const ObjectReader& read) {
    const auto overhead = read.optional("overhead");
    return overhead ? as_duration(*overhead) : Duration::zero();
}

// An idle cable was measured to take 168 bytes; the flows that it carries add to that.
// Returns the ports of switches: of each cable both ends, but for the one end of a node.
std::int64_t ports_of(std::int64_t cables, int nodes) {
    return 2 * cables - nodes;
}

Bytes memory_of(std::int64_t cables, int nodes) {
    return std::max<std::int64_t>(0, cables - nodes) * Bytes{256};
}

int as_count(const Place& place) {
    return static_cast<int>(as_integer(place, 1, most_of_a_kind));
}

// Returns the level whose groups are so many nodes each, in order.
Levels::Named blocks(const char* name, int size) {
    return {name, [size](int node) { return node / size; }};
}

FabricChoice read_star(const ObjectReader& read, NodeDraw draw) {
    const Cable cable =
        read_cable(read.required("link", "for example {\"bandwidth\": \"10Gbps\"}"));
    const int nodes = draw.nodes;
    std::vector<DrawnNodes> drawn;
    const std::vector<OtherLinks> others = read_other_links(read, draw, &read_cable, drawn);
    std::optional<Cable> of_servers;
    if (const auto p = read.optional("server_link")) of_servers = read_cable(*p);
    FabricChoice choice;
    choice.make = [cable, others, of_servers, nodes](int hosts, std::uint64_t /*seed*/) {
        Fabric star = make_star(hosts, cable.up, cable.down);
        replace_links(star, others);
        for (int server = nodes; of_servers && server < hosts; ++server)
            replace_links(star, {{{server}, *of_servers}});
        return star;
    };
    choice.takes_servers = true;
    choice.one_cable_per_node = true;
    choice.usual_cable = cable;
    choice.ports = nodes;
    choice.overhead = overhead_of(read);
    choice.states_efficiency = cable.up.efficiency < 1;
    const bool symmetric = cable.up.capacity() == cable.down.capacity();
    const bool alike = others.empty() && !of_servers;
    const bool steady = cable.up.jitter == LinkJitter{};
    if (choice.overhead == Duration::zero() && symmetric && alike && steady)
        choice.as_idle_star =
            IdleStar{cable.up.capacity(), sum(cable.up.latency, cable.down.latency)};
    choice.idle_star_loss = combined_loss(cable.up.loss, cable.down.loss);
    choice.drawn = std::move(drawn);
    return choice;
}

// Reads the link of a node in a cell. A preset's latency is that between a device and the network
// behind its radio. All of it is on this link; the core adds none.
Cable read_access(const Place& place) {
    Cable cable = read_cable(place);
    const ObjectReader read(place, link_keys());
    if (read.has("preset") && !read.has("latency"))
        cable.up.latency = cable.down.latency = multiple(2, cable.up.latency);
    return cable;
}

UpAndDown ways_of(const Cable& cable) {
    return {cable.up, cable.down};
}

FabricChoice read_cell(const ObjectReader& read, NodeDraw draw) {
    const int nodes = draw.nodes;
    CellShape shape;
    shape.nodes = nodes;
    shape.own = ways_of(
        read_access(read.required("link", "of a node to its cell, such as {\"preset\": \"lte\"}")));
    std::vector<DrawnNodes> drawn;
    const std::vector<OtherLinks> others = read_other_links(read, draw, &read_access, drawn);
    shape.nodes_per_cell =
        as_count(read.required("nodes_per_cell", "how many nodes share a cell, such as 25"));
    shape.air.down.bandwidth = as_bandwidth(
        read.required("capacity", "what the nodes of a cell share, such as \"150Mbps\""));
    const auto up = read.optional("capacity_up");
    shape.air.up.bandwidth = up ? as_bandwidth(*up) : shape.air.down.bandwidth;
    if (const auto p = read.optional("backhaul")) shape.backhaul = ways_of(read_cable(*p));
    const Json usual_server = {{"preset", "10GbE-tcp"}};
    const Place usual{&usual_server, read.place().file, read.place().path};
    shape.server = ways_of(read_cable(read.optional("server_link").value_or(usual)));

    FabricChoice choice;
    choice.one_cable_per_node = true;
    choice.read_own_cable = &read_access;
    choice.make = [shape, others](int hosts, std::uint64_t /*seed*/) {
        CellShape made = shape;
        made.servers = hosts - shape.nodes;
        Fabric fabric = make_cells(made);
        replace_links(fabric, others);
        return fabric;
    };
    choice.takes_servers = true;
    choice.overhead = overhead_of(read);
    choice.memory = memory_of(std::int64_t{nodes} + std::int64_t{2} * shape.cells(), nodes);
    choice.drawn = std::move(drawn);
    choice.levels = {blocks("cell", shape.nodes_per_cell)};
    return choice;
}

Link read_uplink(const ObjectReader& read, const LeafSpine& shape) {
    if (const auto uplink = read.optional("uplink")) return read_link(*uplink);
    const auto ratio = read.optional("oversubscription");
    const Link uplink = oversubscribed_uplink(shape.link, shape.hosts_per_leaf, shape.spines,
                                              ratio ? as_number_above(*ratio, 0, 1e9) : 1);
    if (uplink.capacity().bits_per_second == 0)
        ratio.value_or(read.place())
            .refuse("leaves the uplinks no bandwidth; lower it, or give \"uplink\"");
    return uplink;
}

// Returns whether a link cannot carry what so many others bring it at once.
bool below_all(const Link& link, int others, const Link& other) {
    return static_cast<double>(link.capacity().bits_per_second) <
           others * static_cast<double>(other.capacity().bits_per_second);
}

FabricChoice read_leaf_spine(const ObjectReader& read, NodeDraw draw) {
    const int nodes = draw.nodes;
    read.not_both("uplink", "oversubscription");
    LeafSpine shape;
    shape.hosts = nodes;
    shape.link = required_link(read);
    shape.hosts_per_leaf =
        as_count(read.required("hosts_per_leaf", "how many nodes hang on a leaf switch"));
    const Place spines = read.required("spines", "how many switches join the leaves");
    shape.spines = as_count(spines);
    if (shape.cables() > most_cables)
        spines.refuse(
            fmt::format("{} leaves with {} spines need {} cables; at most {} are possible",
                        shape.leaves(), shape.spines, shape.cables(), most_cables));
    shape.uplink = read_uplink(read, shape);

    FabricChoice choice;
    choice.draws_routes = shape.leaves() > 1 && shape.spines > 1 &&
                          below_all(shape.uplink, shape.hosts_per_leaf, shape.link);
    choice.make = [shape](int hosts, std::uint64_t seed) {
        LeafSpine made = shape;
        made.hosts = hosts;
        return make_leaf_spine(made, seed);
    };
    choice.one_cable_per_node = true;
    choice.overhead = overhead_of(read);
    choice.memory = memory_of(shape.cables(), nodes);
    choice.ports = ports_of(shape.cables(), nodes);
    choice.levels = {blocks("leaf", shape.hosts_per_leaf)};
    return choice;
}

FabricChoice read_fat_tree(const ObjectReader& read, NodeDraw draw) {
    const int nodes = draw.nodes;
    FatTree shape;
    shape.hosts = nodes;
    shape.link = required_link(read);
    const auto uplink = read.optional("uplink");
    shape.uplink = uplink ? read_link(*uplink) : shape.link;
    shape.k = fat_tree_ports_for(nodes);
    if (const auto p = read.optional("k")) {
        const int least = shape.k;
        shape.k = static_cast<int>(as_integer(*p, 2, most_fat_tree_ports));
        if (shape.k % 2 != 0)
            p->refuse(
                fmt::format("{} is odd; half of a switch's ports go up and half go down", shape.k));
        if (shape.places() < nodes)
            p->refuse(
                fmt::format("a fat tree of {} ports has places for {} nodes, not for {}; "
                            "give {} or more",
                            shape.k, shape.places(), nodes, least));
    }

    FabricChoice choice;
    choice.draws_routes = shape.k > 2 && shape.hosts > shape.k / 2 &&
                          below_all(shape.uplink, shape.k * shape.k / 4, shape.link);
    choice.make = [shape](int hosts, std::uint64_t seed) {
        FatTree made = shape;
        made.hosts = hosts;
        return make_fat_tree(made, seed);
    };
    choice.one_cable_per_node = true;
    choice.overhead = overhead_of(read);
    choice.memory = memory_of(shape.cables(), nodes);
    choice.ports = ports_of(shape.cables(), nodes);
    const int half = shape.k / 2;
    choice.levels = {blocks("leaf", half), blocks("pod", half * half)};
    return choice;
}

FabricChoice torus_of(const ObjectReader& read, const std::vector<int>& dims, int nodes) {
    const Link link = required_link(read);
    FabricChoice choice;
    choice.make = [link, dims](int /*hosts*/, std::uint64_t seed) {
        return make_torus(dims, link, seed);
    };
    choice.overhead = overhead_of(read);
    choice.memory = memory_of(std::ssize(dims) * nodes, nodes);
    return choice;
}

FabricChoice read_torus(const ObjectReader& read, NodeDraw draw) {
    const int nodes = draw.nodes;
    const Place place =
        read.required("dims", "the extents, such as [4, 4], whose product is the number of nodes");
    if (!place.json->is_array() || place.json->empty() || place.json->size() > most_torus_dims)
        place.refuse(
            fmt::format("is not a list of 1 to {} extents, such as [4, 4]", most_torus_dims));
    std::vector<int> dims;
    std::int64_t product = 1;
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        dims.push_back(as_count(place.element(i)));
        product = std::min(product, most_of_a_kind + 1) * dims.back();  // avoids overflow
    }
    if (product > most_of_a_kind)
        place.refuse(
            fmt::format("{} is above {}; the product of the extents is the number of "
                        "nodes, {}",
                        fmt::join(dims, " x "), most_of_a_kind, nodes));
    if (product != nodes)
        place.refuse(fmt::format("{} = {}; the product of the extents is the number of nodes, {}",
                                 fmt::join(dims, " x "), product, nodes));
    return torus_of(read, dims, nodes);
}

FabricChoice read_ring(const ObjectReader& read, NodeDraw draw) {
    const int nodes = draw.nodes;
    return torus_of(read, {nodes}, nodes);
}

FabricChoice read_dumbbell(const ObjectReader& read, NodeDraw draw) {
    const Link link = required_link(read);
    const Link bottleneck = read_link(read.required("bottleneck", "the link between the halves"));
    FabricChoice choice;
    choice.make = [link, bottleneck](int hosts, std::uint64_t /*seed*/) {
        return make_dumbbell(hosts, link, bottleneck);
    };
    choice.ports = ports_of(std::int64_t{draw.nodes} + 1, draw.nodes);
    const int on_left = draw.nodes / 2;
    choice.levels = {{"side", [on_left](int node) { return node < on_left ? 0 : 1; }}};
    choice.one_cable_per_node = true;
    choice.overhead = overhead_of(read);
    return choice;
}

bool one_cable_per_node(const Graph& graph) {
    std::vector<int> cables(static_cast<std::size_t>(graph.hosts));
    for (const Graph::Cable& cable : graph.cables)
        for (const int end : {cable.first, cable.second})
            if (end < graph.hosts) ++cables[static_cast<std::size_t>(end)];
    return std::ranges::all_of(cables, [](int count) { return count <= 1; });
}

FabricChoice read_graph(const ObjectReader& read, NodeDraw draw) {
    const int nodes = draw.nodes;
    const Graph graph = read_graph_wires(read, nodes);
    FabricChoice choice;
    choice.make = [graph](int /*hosts*/, std::uint64_t seed) { return make_graph(graph, seed); };
    choice.one_cable_per_node = one_cable_per_node(graph);
    for (const Graph::Cable& cable : graph.cables)
        choice.ports += int{cable.first >= graph.hosts} + int{cable.second >= graph.hosts};
    choice.overhead = overhead_of(read);
    choice.memory = memory_of(std::ssize(graph.cables), nodes) +
                    std::int64_t{graph.switches} * graph.switches * Bytes{2};
    return choice;
}

FabricChoice read_regions(const ObjectReader& read, NodeDraw draw) {
    const Regions shape = read_region_wires(read, draw.nodes);
    FabricChoice choice;
    choice.make = [shape](int /*hosts*/, std::uint64_t /*seed*/) { return make_regions(shape); };
    choice.one_cable_per_node = true;
    choice.overhead = overhead_of(read);
    const std::int64_t count = std::ssize(shape.regions);
    const std::int64_t cables = draw.nodes + count * (count - 1) / 2;
    choice.memory = memory_of(cables, draw.nodes);
    choice.ports = ports_of(cables, draw.nodes);
    std::vector<int> region_of;  // [node]
    for (const Region& region : shape.regions)
        region_of.insert(region_of.end(), static_cast<std::size_t>(region.hosts),
                         region_of.empty() ? 0 : region_of.back() + 1);
    choice.levels = {
        {"region", [region_of](int node) { return region_of[static_cast<std::size_t>(node)]; }}};
    return choice;
}

// To add a fabric: topologies/fabrics/<name>.{hpp,cpp}, a reader above, a line here.
constexpr auto fabric_kinds = std::to_array<FabricEntry>({
    {"star", "every node on one non-blocking switch, full duplex", star_keys, &read_star},
    {"cell", "radio cells whose nodes share a capacity, and servers behind them", cell_keys,
     &read_cell},
    {"leaf-spine", "nodes on leaf switches, every leaf cabled to every spine", leaf_spine_keys,
     &read_leaf_spine},
    {"fat-tree", "three levels of switches with k ports, as wide above as below", fat_tree_keys,
     &read_fat_tree},
    {"torus", "a grid of nodes that closes on itself in every dimension, no switch", torus_keys,
     &read_torus},
    {"ring", "a torus of one dimension", ring_keys, &read_ring},
    {"dumbbell", "two switches with half of the nodes each and one cable between them",
     dumbbell_keys, &read_dumbbell},
    {"graph", "any switches and cables, listed one by one", graph_keys, &read_graph},
    {"regions", "nodes in regions, with a pipe from each region to every other one", regions_keys,
     &read_regions},
});

}  // namespace

std::span<const FabricEntry> fabric_table() {
    return fabric_kinds;
}

FabricChoice read_fabric(const Place& place, int nodes, std::uint64_t seed) {
    const std::vector<std::string_view> names = names_of(fabric_kinds);
    const Place kind = kind_of(place, "a fabric", names);
    const FabricEntry& entry = fabric_kinds[as_name(kind, "a fabric", names)];
    return entry.read(ObjectReader(place, entry.keys), {nodes, seed});
}

}  // namespace paceline
