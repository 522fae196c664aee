#include "topologies/mixing/parts.hpp"

#include <cstdint>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using UndirectedGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

// Complete graphs and stars. The former have too many edges to copy.
bool has_a_hub(const Mixing& mixing) {
    for (int i = 0; i < mixing.nodes(); ++i)
        if (std::cmp_equal(mixing.row(i).size(), mixing.nodes())) return true;
    return false;
}

void join_exchanging(UndirectedGraph& graph, const Mixing& mixing) {
    for (int i = 0; i < mixing.nodes(); ++i)
        for (const MixingWeight& w : mixing.row(i))
            if (w.node != i)
                boost::add_edge(static_cast<std::size_t>(i), static_cast<std::size_t>(w.node),
                                graph);
}

}  // namespace

MixingParts parts_of(const MixingSchedule& schedule) {
    PACELINE_CHECK(!schedule.empty() && !schedule.is_drawn(), "parts are those of a period");
    const auto nodes = static_cast<std::size_t>(schedule.nodes());
    MixingParts parts{1, std::vector<std::size_t>(nodes)};
    UndirectedGraph graph(nodes);
    for (std::int64_t step = 0; step < schedule.period(); ++step) {
        const MixingPtr mixing = schedule.at(step);
        if (has_a_hub(*mixing)) return parts;
        join_exchanging(graph, *mixing);
    }
    parts.count = boost::connected_components(graph, parts.of.data());
    return parts;
}

std::vector<Mixing> split(const Mixing& mixing, const MixingParts& parts) {
    std::vector<int> number;  // of each node, within its part
    std::vector<int> sizes(parts.count);
    for (const std::size_t part : parts.of) number.push_back(sizes[part]++);
    std::vector<std::vector<std::vector<MixingWeight>>> rows(parts.count);
    for (int i = 0; i < mixing.nodes(); ++i) {
        std::vector<MixingWeight> row = mixing.row(i);
        for (MixingWeight& w : row) w.node = number[static_cast<std::size_t>(w.node)];
        rows[parts.of[static_cast<std::size_t>(i)]].push_back(std::move(row));
    }
    std::vector<Mixing> mixings;
    for (auto& of_part : rows) mixings.emplace_back(std::move(of_part));
    return mixings;
}

}  // namespace paceline
