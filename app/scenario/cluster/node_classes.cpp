#include "app/scenario/cluster/node_classes.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/cluster/buses.hpp"

namespace paceline {

namespace {

constexpr auto class_key_table = std::to_array<std::string_view>(
    {"nodes", "share", "devices_per_node", "bus", "nics", "link", "device", "efficiency",
     "precision", "step_time", "gradient_time", "batch", "device_memory"});

// Returns the two links of a host, as those of its way to any other host and back.
std::pair<LinkId, LinkId> cable_of(const Fabric& fabric, int host) {
    const int other = host == 0 ? 1 : 0;
    Route route;
    fabric.find_route(host, other, route);
    const LinkId up = route.front();
    fabric.find_route(other, host, route);
    return {up, route.back()};
}

void check_no_node_twice(const std::vector<Place>& objects, const std::vector<NodeClass>& classes,
                         int nodes) {
    std::vector<int> of(static_cast<std::size_t>(nodes), -1);
    for (std::size_t i = 0; i < classes.size(); ++i)
        for (const int node : classes[i].nodes) {
            int& first = of[static_cast<std::size_t>(node)];
            if (first >= 0)
                objects[i].refuse(fmt::format(
                    "node {} is in classes[{}] already; a node is in one class", node, first));
            first = static_cast<int>(i);
        }
}

}  // namespace

Keys node_class_keys() {
    return class_key_table;
}

std::vector<NodeClass> read_node_classes(const Place& place, NodeDraw draw,
                                         const MachineShape& usual,
                                         std::vector<DrawnNodes>& drawn) {
    if (!place.json->is_array() || place.json->empty())
        place.refuse("is not a list of classes, such as [{\"nodes\": [2, 3], \"batch\": 200}]");
    std::vector<Place> objects;
    std::vector<NodeClass> classes;
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const ObjectReader read(place.element(i), class_key_table);
        if (!read.has("share"))
            static_cast<void>(
                read.required("nodes", "those of the class, such as [2, 3]; or give a \"share\""));
        objects.push_back(read.place());
        classes.push_back(
            {.path = read.place().path, .nodes = {}, .machine = read_machine_shape(read, usual)});
    }
    NodesOfObjects nodes = read_nodes_of(objects, draw, "classes of nodes");
    for (std::size_t i = 0; i < classes.size(); ++i) {
        classes[i].nodes = std::move(*nodes.nodes[i]);
        std::ranges::sort(classes[i].nodes);
    }
    check_no_node_twice(objects, classes, draw.nodes);
    std::ranges::move(nodes.drawn, std::back_inserter(drawn));
    return classes;
}

void read_links_of_classes(const Place& place, Cable (*read_cable)(const Place&),
                           std::vector<NodeClass>& classes) {
    for (std::size_t i = 0; i < classes.size(); ++i)
        if (const auto link = ObjectReader(place.element(i), class_key_table).optional("link"))
            classes[i].link = read_cable(*link);
}

std::vector<MachineShape> machines_of(const std::vector<NodeClass>& classes, int nodes,
                                      const MachineShape& usual) {
    std::vector<MachineShape> machines(static_cast<std::size_t>(nodes), usual);
    for (const NodeClass& one : classes)
        for (const int node : one.nodes) machines[static_cast<std::size_t>(node)] = one.machine;
    return machines;
}

void replace_links_of_classes(const std::vector<NodeClass>& classes, const std::vector<int>& first,
                              Fabric& fabric) {
    if (fabric.hosts < 2) return;  // a lone host has no way into the network
    for (const NodeClass& one : classes) {
        if (!one.link) continue;
        for (const int node : one.nodes) {
            const auto place = static_cast<std::size_t>(node);
            const int begin = first.empty() ? node : first[place];
            const int end = first.empty() ? node + 1 : first[place + 1];
            for (int card = begin; card < std::min(end, fabric.hosts); ++card) {
                const auto [up, down] = cable_of(fabric, card);
                fabric.links[up] = one.link->up;
                fabric.links[down] = one.link->down;
            }
        }
    }
}

}  // namespace paceline
