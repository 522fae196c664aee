#include "app/scenario/cluster/graph_wires.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/cluster/links.hpp"

namespace paceline {

namespace {

constexpr auto cable_key_table = std::to_array<std::string_view>({"between", "link"});

std::vector<std::string> read_switches(const Place& place) {
    if (!place.json->is_array() || place.json->size() > std::size_t{most_graph_switches})
        place.refuse(fmt::format("is not a list of at most {} names, such as [\"s1\", \"s2\"]",
                                 most_graph_switches));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < place.json->size(); ++i)
        names.push_back(as_string(place.element(i)));
    return names;
}

// The vertices of a graph: hosts by their numbers, switches by their names.
class Vertices {
  public:
    Vertices(int nodes, const std::optional<Place>& switches) : nodes_(nodes) {
        if (switches) names_ = read_switches(*switches);
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (!vertex_of_.emplace(names_[i], nodes + static_cast<int>(i)).second)
                switches->element(i).refuse(fmt::format(
                    "\"{}\" is listed twice; each switch needs its own name", names_[i]));
    }

    [[nodiscard]] int switches() const { return static_cast<int>(names_.size()); }
    [[nodiscard]] const std::vector<std::string>& switch_names() const { return names_; }

    [[nodiscard]] int at(const Place& place) const {
        if (place.json->is_number()) return static_cast<int>(as_integer(place, 0, nodes_ - 1));
        if (!place.json->is_string())
            place.refuse("is neither a node's number nor a switch's name");
        const std::string name = as_string(place);
        if (const auto found = vertex_of_.find(name); found != vertex_of_.end())
            return found->second;
        const std::vector<std::string_view> known(names_.begin(), names_.end());
        place.refuse(unknown(name, "a switch of this graph", known));
    }

  private:
    int nodes_;
    std::vector<std::string> names_;
    std::map<std::string, int, std::less<>> vertex_of_;
};

Graph::Cable read_cable(const Place& place, const Vertices& vertices,
                        const std::optional<Link>& usual) {
    const ObjectReader read(place, cable_key_table);
    const Place between = read.required("between", "the two ends, such as [0, \"s1\"]");
    if (!between.json->is_array() || between.json->size() != 2)
        between.refuse("is not a list of two ends, such as [0, \"s1\"]");
    const int first = vertices.at(between.element(0));
    const int second = vertices.at(between.element(1));
    if (first == second)
        between.refuse("joins something to itself; a cable needs two different ends");
    if (usual && !read.has("link")) return {first, second, *usual};
    return {first, second,
            read_link(read.required("link", "give it here, or one for all cables in the fabric"))};
}

}  // namespace

Keys cable_keys() {
    return cable_key_table;
}

Graph read_graph_wires(const ObjectReader& read, int nodes) {
    std::optional<Link> usual;
    if (const auto p = read.optional("link")) usual = read_link(*p);
    const Vertices vertices(nodes, read.optional("switches"));
    const Place cables =
        read.required("cables", "a list, such as [{\"between\": [0, \"s1\"], \"link\": ...}]");
    if (!cables.json->is_array())
        cables.refuse("is not a list, such as [{\"between\": [0, \"s1\"], \"link\": ...}]");
    Graph graph;
    graph.hosts = nodes;
    graph.switches = vertices.switches();
    graph.switch_names = vertices.switch_names();
    for (std::size_t i = 0; i < cables.json->size(); ++i)
        graph.cables.push_back(read_cable(cables.element(i), vertices, usual));
    if (const auto pair = unconnected_hosts(graph))
        cables.refuse(
            fmt::format("no path leads from node {} to node {}: switches forward messages and "
                        "nodes do not; add a cable",
                        pair->first, pair->second));
    return graph;
}

}  // namespace paceline
