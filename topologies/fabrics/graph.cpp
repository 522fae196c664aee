#include "topologies/fabrics/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/visitors.hpp>
#include <boost/property_map/property_map.hpp>
#include <fmt/format.h>

#include "sim/engine/check.hpp"
#include "sim/engine/split_mix64.hpp"
#include "topologies/fabrics/cables.hpp"
#include "topologies/fabrics/equal_cost.hpp"

namespace paceline {

namespace {

using SwitchGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

// Returns the switches, numbered from 0, and the cables between them.
SwitchGraph switches_of(const Graph& graph) {
    SwitchGraph switches(static_cast<std::size_t>(graph.switches));
    for (const Graph::Cable& cable : graph.cables)
        if (cable.first >= graph.hosts && cable.second >= graph.hosts)
            boost::add_edge(static_cast<std::size_t>(cable.first - graph.hosts),
                            static_cast<std::size_t>(cable.second - graph.hosts), switches);
    return switches;
}

void check_well_formed(const Graph& graph) {
    PACELINE_CHECK(graph.hosts >= 1, "a graph has a host or more");
    PACELINE_CHECK(graph.switches >= 0 && graph.switches <= most_graph_switches,
                   "a graph has from 0 to 4096 switches");
    PACELINE_CHECK(std::ssize(graph.cables) <= most_cables, "links have 32-bit numbers");
    const std::int64_t vertices = std::int64_t{graph.hosts} + graph.switches;
    for (const Graph::Cable& cable : graph.cables) {
        PACELINE_CHECK(std::min(cable.first, cable.second) >= 0, "a cable has ends that exist");
        PACELINE_CHECK(std::max(cable.first, cable.second) < vertices,
                       "a cable has ends that exist");
        PACELINE_CHECK(cable.first != cable.second, "a cable joins two different things");
    }
}

// Returns the first host without a cable, in O(cables) for any number of hosts.
std::optional<int> host_without_cable(const Graph& graph) {
    std::vector<bool> cabled(
        std::min(static_cast<std::size_t>(graph.hosts), 2 * graph.cables.size() + 1));
    for (const Graph::Cable& cable : graph.cables)
        for (const int end : {cable.first, cable.second})
            if (static_cast<std::size_t>(end) < cabled.size())
                cabled[static_cast<std::size_t>(end)] = true;
    const auto found = std::ranges::find(cabled, false);
    if (found == cabled.end()) return std::nullopt;
    return static_cast<int>(found - cabled.begin());
}

// Which hosts can reach each other: those on one connected part of the switches, and those joined
// by a cable.
struct Reach {
    std::vector<std::vector<int>> hosts_of_part;
    std::vector<std::vector<int>> parts_of_host;
    std::vector<std::vector<int>> cabled_hosts;  // joined directly by a cable

    explicit Reach(const Graph& graph)
        : parts_of_host(static_cast<std::size_t>(graph.hosts)),
          cabled_hosts(static_cast<std::size_t>(graph.hosts)) {
        std::vector<int> part(static_cast<std::size_t>(graph.switches));
        const int parts = boost::connected_components(
            switches_of(graph),
            boost::make_iterator_property_map(part.begin(),
                                              boost::typed_identity_property_map<std::size_t>()));
        hosts_of_part.resize(static_cast<std::size_t>(parts));
        for (const Graph::Cable& cable : graph.cables) {
            const auto [host, other] = std::minmax(cable.first, cable.second);
            if (host >= graph.hosts) continue;
            if (other < graph.hosts) {
                cabled_hosts[static_cast<std::size_t>(host)].push_back(other);
                cabled_hosts[static_cast<std::size_t>(other)].push_back(host);
            } else {
                add(host, part[static_cast<std::size_t>(other - graph.hosts)]);
            }
        }
    }

    void add(int host, int part) {
        std::vector<int>& parts = parts_of_host[static_cast<std::size_t>(host)];
        if (std::ranges::find(parts, part) != parts.end()) return;
        parts.push_back(part);
        hosts_of_part[static_cast<std::size_t>(part)].push_back(host);
    }
};

constexpr int unreachable = std::numeric_limits<int>::max();

// The data for finding a route, shared by all copies of the route function.
class GraphRoutes {
  public:
    GraphRoutes(const Graph& graph, std::uint64_t seed)
        : hosts_(graph.hosts),
          switches_(static_cast<std::size_t>(graph.switches)),
          seed_(seed),
          first_port_(static_cast<std::size_t>(graph.hosts) + switches_ + 1) {
        list_ports(graph);
        find_distances(switches_of(graph));
    }

    void find(int from, int to, Route& route) const {
        route.clear();
        std::uint64_t hash = equal_cost_hash(seed_, from, to);
        for (int at = from; at != to; hash = split_mix64(hash)) {
            const Port& port = next(at, to, hash);
            route.push_back(port.link);
            at = port.neighbor;
        }
    }

  private:
    struct Port {
        int neighbor;
        LinkId link;  // leads to the neighbor
    };

    [[nodiscard]] std::span<const Port> ports(int vertex) const {
        const auto v = static_cast<std::size_t>(vertex);
        return std::span(ports_).subspan(first_port_[v], first_port_[v + 1] - first_port_[v]);
    }

    // Returns the number of links from a vertex to a host, passing only switches.
    [[nodiscard]] int distance(int vertex, int host) const {
        if (vertex == host) return 0;
        int least = unreachable;
        if (vertex < hosts_) return least;
        for (const Port& port : ports(host))
            if (port.neighbor >= hosts_) least = std::min(least, between(vertex, port.neighbor));
        return least == unreachable ? least : least + 1;
    }

    [[nodiscard]] int between(int a, int b) const {
        const auto row = static_cast<std::size_t>(a - hosts_);
        const std::uint16_t links = table_[row * switches_ + static_cast<std::size_t>(b - hosts_)];
        return links == none ? unreachable : links;
    }

    // Returns one of the cables that lead closest to `to`.
    [[nodiscard]] const Port& next(int at, int to, std::uint64_t hash) const {
        int least = unreachable;
        int ways = 0;
        for (const Port& port : ports(at)) {
            const int left = distance(port.neighbor, to);
            if (left < least) ways = 0;
            least = std::min(least, left);
            if (left == least) ++ways;
        }
        PACELINE_CHECK(least != unreachable, "hosts of a graph are connected");
        int chosen = choose(hash, ways);
        for (const Port& port : ports(at))
            if (distance(port.neighbor, to) == least && chosen-- == 0) return port;
        PACELINE_CHECK(false, "the ways that were counted are found again");
    }

    void list_ports(const Graph& graph) {
        for (const Graph::Cable& cable : graph.cables)
            for (const int end : {cable.first, cable.second})
                ++first_port_[static_cast<std::size_t>(end) + 1];
        for (std::size_t v = 1; v < first_port_.size(); ++v) first_port_[v] += first_port_[v - 1];
        std::vector<std::size_t> free(first_port_.begin(), first_port_.end() - 1);
        ports_.resize(2 * graph.cables.size());
        for (std::size_t c = 0; c < graph.cables.size(); ++c) {
            const auto [first, second, link] = graph.cables[c];
            const auto number = static_cast<std::int64_t>(c);
            ports_[free[static_cast<std::size_t>(first)]++] = {second, forth(number)};
            ports_[free[static_cast<std::size_t>(second)]++] = {first, back(number)};
        }
    }

    void find_distances(const SwitchGraph& switches) {
        table_.assign(switches_ * switches_, none);
        for (std::size_t from = 0; from < switches_; ++from) {
            std::uint16_t* const row = table_.data() + from * switches_;
            row[from] = 0;
            const auto distances = boost::make_iterator_property_map(
                row, boost::typed_identity_property_map<std::size_t>());
            boost::breadth_first_search(
                switches, from,
                boost::visitor(boost::make_bfs_visitor(
                    boost::record_distances(distances, boost::on_tree_edge()))));
        }
    }

    static constexpr std::uint16_t none = std::numeric_limits<std::uint16_t>::max();
    static_assert(most_graph_switches < none);

    int hosts_;
    std::size_t switches_;
    std::uint64_t seed_;
    std::vector<std::size_t> first_port_;  // [vertex]: its first port in ports_; plus one end entry
    std::vector<Port> ports_;
    std::vector<std::uint16_t> table_;  // distances in links between switches, row by row
};

}  // namespace

std::optional<std::pair<int, int>> unconnected_hosts(const Graph& graph) {
    check_well_formed(graph);
    if (graph.hosts == 1) return std::nullopt;
    if (const auto alone = host_without_cable(graph))
        return *alone == 0 ? std::pair{0, 1} : std::pair{0, *alone};
    const Reach reach(graph);
    const auto hosts = static_cast<std::size_t>(graph.hosts);
    for (const std::vector<int>& members : reach.hosts_of_part)
        if (members.size() == hosts) return std::nullopt;
    std::vector<int> reached_from(hosts, -1);
    for (int from = 0; from < graph.hosts; ++from) {
        const auto mark = [&](int host) { reached_from[static_cast<std::size_t>(host)] = from; };
        mark(from);
        for (const int part : reach.parts_of_host[static_cast<std::size_t>(from)])
            std::ranges::for_each(reach.hosts_of_part[static_cast<std::size_t>(part)], mark);
        std::ranges::for_each(reach.cabled_hosts[static_cast<std::size_t>(from)], mark);
        for (int to = from + 1; to < graph.hosts; ++to)
            if (reached_from[static_cast<std::size_t>(to)] != from) return std::pair{from, to};
    }
    return std::nullopt;
}

namespace {

std::string name_of(const Graph& graph, int vertex) {
    if (vertex < graph.hosts) return fmt::format("node {}", vertex);
    const auto number = static_cast<std::size_t>(vertex - graph.hosts);
    if (graph.switch_names.empty()) return fmt::format("switch {}", number);
    return graph.switch_names[number];
}

// Tells cables between the same two ends apart.
std::string number_among_parallel(const Graph& graph, std::size_t cable) {
    const Graph::Cable& one = graph.cables[cable];
    const auto joins_the_same = [&one](const Graph::Cable& other) {
        return std::minmax(one.first, one.second) == std::minmax(other.first, other.second);
    };
    const auto before =
        std::count_if(graph.cables.begin(),
                      graph.cables.begin() + static_cast<std::ptrdiff_t>(cable), joins_the_same);
    return before == 0 ? "" : fmt::format(" ({})", before + 1);
}

LinkLabel label_of(const Graph& graph, LinkId link) {
    const auto [first, second, unused] = graph.cables[link / 2];
    const int from = link % 2 == 0 ? first : second;
    const int to = link % 2 == 0 ? second : first;
    const auto kind = [&](int vertex) { return vertex < graph.hosts ? "node" : "switch"; };
    const bool between_switches = std::min(from, to) >= graph.hosts;
    return {between_switches ? LinkRole::core : LinkRole::node,
            fmt::format("{} -> {}", kind(from), kind(to)),
            fmt::format("{} -> {}{}", name_of(graph, from), name_of(graph, to),
                        number_among_parallel(graph, link / 2)),
            between_switches ? -1 : std::min(from, to)};
}

}  // namespace

Fabric make_graph(const Graph& graph, std::uint64_t seed) {
    PACELINE_CHECK(!unconnected_hosts(graph), "hosts of a graph are connected");
    Fabric fabric;
    fabric.hosts = graph.hosts;
    for (const Graph::Cable& cable : graph.cables) add_cables(fabric, 1, cable.link);
    fabric.find_route = [routes = std::make_shared<const GraphRoutes>(graph, seed)](
                            int from, int to, Route& route) { routes->find(from, to, route); };
    fabric.label = [known = std::make_shared<const Graph>(graph)](LinkId link) {
        return label_of(*known, link);
    };
    return fabric;
}

}  // namespace paceline
