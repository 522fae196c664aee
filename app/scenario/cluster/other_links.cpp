#include "app/scenario/cluster/other_links.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "topologies/fabrics/star.hpp"

namespace paceline {

namespace {

constexpr auto other_links_key_table = std::to_array<std::string_view>({"nodes", "share", "link"});

}  // namespace

Keys other_links_keys() {
    return other_links_key_table;
}

std::vector<OtherLinks> read_other_links(const ObjectReader& read, NodeDraw draw, ReadCable cable,
                                         std::vector<DrawnNodes>& drawn) {
    std::vector<OtherLinks> others;
    const auto list = read.optional("other_links");
    if (!list) return others;
    if (!list->json->is_array())
        list->refuse("is not a list, such as [{\"nodes\": [5, 6], \"link\": ...}]");
    std::vector<Place> objects;
    for (std::size_t i = 0; i < list->json->size(); ++i) {
        const ObjectReader one(list->element(i), other_links_key_table);
        if (!one.has("share"))
            static_cast<void>(one.required(
                "nodes", "such as [5, 6] or {\"from\": 5, \"to\": 9}; or give a \"share\""));
        const Place link = one.required("link", "of these nodes, such as {\"preset\": \"3g\"}");
        others.push_back({{}, cable(link)});
        objects.push_back(one.place());
    }
    NodesOfObjects nodes = read_nodes_of(objects, draw, "other links");
    for (std::size_t i = 0; i < others.size(); ++i) others[i].nodes = std::move(*nodes.nodes[i]);
    drawn = std::move(nodes.drawn);
    return others;
}

void replace_links(Fabric& fabric, const std::vector<OtherLinks>& others) {
    for (const OtherLinks& other : others)
        for (const int node : other.nodes) {
            fabric.links[star_up(node)] = other.cable.up;
            fabric.links[star_down(node, fabric.hosts)] = other.cable.down;
        }
}

}  // namespace paceline
