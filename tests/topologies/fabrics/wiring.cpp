#include "tests/topologies/fabrics/wiring.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>

namespace paceline {

std::pair<int, int> Wiring::ends(LinkId link) const {
    const auto [first, second] = cables.at(link / 2);
    return link % 2 == 0 ? std::pair{first, second} : std::pair{second, first};
}

std::vector<int> Wiring::distances(int from) const {
    std::vector<std::vector<int>> neighbors(static_cast<std::size_t>(vertices));
    for (const auto& [first, second] : cables) {
        neighbors[static_cast<std::size_t>(first)].push_back(second);
        neighbors[static_cast<std::size_t>(second)].push_back(first);
    }
    std::vector<int> far(static_cast<std::size_t>(vertices), -1);
    far[static_cast<std::size_t>(from)] = 0;
    std::deque<int> next{from};
    while (!next.empty()) {
        const int at = next.front();
        next.pop_front();
        if (at != from && at < hosts && !hosts_forward) continue;
        for (const int neighbor : neighbors[static_cast<std::size_t>(at)]) {
            int& distance = far[static_cast<std::size_t>(neighbor)];
            if (distance >= 0) continue;
            distance = far[static_cast<std::size_t>(at)] + 1;
            next.push_back(neighbor);
        }
    }
    return far;
}

int Wiring::diameter() const {
    int most = 0;
    for (int from = 0; from < hosts; ++from) {
        const std::vector<int> far = distances(from);
        most = std::max(most, *std::max_element(far.begin(), far.begin() + hosts));
    }
    return most;
}

Wiring wiring_of_leaf_spine(const LeafSpine& shape) {
    Wiring wiring;
    wiring.hosts = shape.hosts;
    int leaves = 0;
    for (int host = 0; host < shape.hosts; ++host) {
        if (host % shape.hosts_per_leaf == 0) ++leaves;
        wiring.cables.emplace_back(host, shape.hosts + leaves - 1);
    }
    for (int leaf = 0; leaf < leaves; ++leaf)
        for (int spine = 0; spine < shape.spines; ++spine)
            wiring.cables.emplace_back(shape.hosts + leaf, shape.hosts + leaves + spine);
    wiring.vertices = shape.hosts + leaves + shape.spines;
    return wiring;
}

Wiring wiring_of_fat_tree(const FatTree& shape) {
    const int half = shape.k / 2;
    const int edges = shape.k * half;  // the number of aggregation switches, too
    const int edge = shape.hosts;      // first switches of the levels
    const int aggregation = edge + edges;
    const int core = aggregation + edges;
    Wiring wiring;
    wiring.hosts = shape.hosts;
    wiring.vertices = core + half * half;
    for (int host = 0; host < shape.hosts; ++host)
        wiring.cables.emplace_back(host, edge + host / half);
    for (int pod = 0; pod < shape.k; ++pod)
        for (int e = 0; e < half; ++e)
            for (int a = 0; a < half; ++a)
                wiring.cables.emplace_back(edge + pod * half + e, aggregation + pod * half + a);
    for (int pod = 0; pod < shape.k; ++pod)
        for (int a = 0; a < half; ++a)
            for (int c = 0; c < half; ++c)
                wiring.cables.emplace_back(aggregation + pod * half + a, core + a * half + c);
    return wiring;
}

Wiring wiring_of_torus(const std::vector<int>& dims) {
    std::vector<std::vector<int>> coordinates{std::vector<int>(dims.size(), 0)};
    while (true) {  // counts up, the first dimension fastest
        std::vector<int> next = coordinates.back();
        std::size_t d = 0;
        while (d < dims.size() && ++next[d] == dims[d]) next[d++] = 0;
        if (d == dims.size()) break;
        coordinates.push_back(next);
    }
    Wiring wiring;
    wiring.hosts = static_cast<int>(coordinates.size());
    wiring.vertices = wiring.hosts;
    wiring.hosts_forward = true;
    for (std::size_t d = 0; d < dims.size(); ++d)
        for (int host = 0; host < wiring.hosts; ++host) {
            std::vector<int> next = coordinates[static_cast<std::size_t>(host)];
            if (dims[d] == 1 || (dims[d] == 2 && next[d] == 1)) continue;
            next[d] = (next[d] + 1) % dims[d];
            const auto found = std::ranges::find(coordinates, next);
            wiring.cables.emplace_back(host, static_cast<int>(found - coordinates.begin()));
        }
    return wiring;
}

Wiring wiring_of_dumbbell(int hosts) {
    Wiring wiring;
    wiring.hosts = hosts;
    wiring.vertices = hosts + 2;
    for (int host = 0; host < hosts; ++host)
        wiring.cables.emplace_back(host, 2 * host + 1 < hosts ? hosts : hosts + 1);
    wiring.cables.emplace_back(hosts, hosts + 1);
    return wiring;
}

Wiring wiring_of_regions(const std::vector<int>& hosts) {
    Wiring wiring;
    for (const int own : hosts) wiring.hosts += own;
    const int regions = static_cast<int>(hosts.size());
    wiring.vertices = wiring.hosts + regions;
    int host = 0;
    for (int region = 0; region < regions; ++region)
        for (int i = 0; i < hosts[static_cast<std::size_t>(region)]; ++i)
            wiring.cables.emplace_back(host++, wiring.hosts + region);
    for (int first = 0; first < regions; ++first)
        for (int second = first + 1; second < regions; ++second)
            wiring.cables.emplace_back(wiring.hosts + first, wiring.hosts + second);
    return wiring;
}

Wiring wiring_of_graph(const Graph& graph) {
    Wiring wiring;
    wiring.hosts = graph.hosts;
    wiring.vertices = graph.hosts + graph.switches;
    for (const Graph::Cable& cable : graph.cables)
        wiring.cables.emplace_back(cable.first, cable.second);
    return wiring;
}

Route route(const Fabric& fabric, int from, int to) {
    Route links{99, 98, 97};
    fabric.find_route(from, to, links);
    return links;
}

bool is_even(const std::vector<int>& counts) {
    double total = 0;
    for (const int count : counts) total += count;
    const double expected = total / static_cast<double>(counts.size());
    double statistic = 0;
    for (const int count : counts) statistic += (count - expected) * (count - expected) / expected;
    const auto freedom = static_cast<double>(counts.size() - 1);
    return (statistic - freedom) * (statistic - freedom) < 36 * 2 * freedom;
}

}  // namespace paceline
