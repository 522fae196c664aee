#include "topologies/mixing/graphs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/grid_graph.hpp>
#include <boost/range/iterator_range.hpp>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// At most one edge between two nodes, and neighbors in order.
using NodeGraph = boost::adjacency_list<boost::setS, boost::vecS, boost::undirectedS>;

NodeGraph unconnected(int nodes) {
    PACELINE_CHECK(nodes >= 1, "a graph has a node or more");
    return NodeGraph(static_cast<std::size_t>(nodes));
}

void join(NodeGraph& graph, std::size_t a, std::size_t b) {
    if (a != b) boost::add_edge(a, b, graph);
}

Mixing weigh(const NodeGraph& graph) {
    std::vector<std::vector<int>> neighbors(boost::num_vertices(graph));
    for (std::size_t i = 0; i < neighbors.size(); ++i)
        for (const std::size_t j : boost::make_iterator_range(boost::adjacent_vertices(i, graph)))
            neighbors[i].push_back(static_cast<int>(j));
    return metropolis_hastings(neighbors);
}

// Makes a rectangle of rows x columns; each node is joined to the next one in its row and column.
NodeGraph rectangle(int rows, int columns, bool sides_joined) {
    PACELINE_CHECK(rows >= 1 && columns >= 1, "a rectangle has a row and a column or more");
    // Two nodes are neighbors already; of one, Boost 1.74 joins sides with nodes that do not exist.
    const auto joined = [&](int length) { return sides_joined && length > 2; };
    const boost::grid_graph<2, std::size_t> grid(
        {static_cast<std::size_t>(columns), static_cast<std::size_t>(rows)},
        {joined(columns), joined(rows)});
    NodeGraph graph = unconnected(rows * columns);
    const auto number = get(boost::vertex_index, grid);  // row by row
    for (const auto& edge : boost::make_iterator_range(edges(grid)))
        join(graph, number[source(edge, grid)], number[target(edge, grid)]);
    return graph;
}

// Returns the nodes that node i listens to, itself included.
std::set<int> heard_by(const Mixing& graph, int i) {
    std::set<int> heard{i};
    for (const MixingWeight& w : graph.row(i)) heard.insert(w.node);
    return heard;
}

}  // namespace

Mixing metropolis_hastings(const std::vector<std::vector<int>>& neighbors) {
    std::vector<std::vector<MixingWeight>> rows(neighbors.size());
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        const int self = static_cast<int>(i);
        std::vector<MixingWeight>& row = rows[i];
        double others = 0;
        for (const int j : neighbors[i]) {
            const std::vector<int>& theirs = neighbors[static_cast<std::size_t>(j)];
            PACELINE_CHECK(std::ranges::find(theirs, self) != theirs.end(), "neighbors are mutual");
            const double degree = static_cast<double>(std::max(neighbors[i].size(), theirs.size()));
            row.push_back({j, 1 / (1 + degree)});
            others += row.back().weight;
        }
        row.push_back({self, 1 - others});
        std::ranges::sort(row, {}, &MixingWeight::node);
    }
    return Mixing(std::move(rows));
}

Mixing max_degree_weights(const Mixing& graph) {
    std::vector<std::set<int>> heard;
    std::size_t most = 0;  // of others
    for (int i = 0; i < graph.nodes(); ++i) {
        heard.push_back(heard_by(graph, i));
        most = std::max(most, heard.back().size() - 1);
    }
    const double weight = 1 / static_cast<double>(1 + most);
    std::vector<std::vector<MixingWeight>> rows;
    for (int i = 0; i < graph.nodes(); ++i) {
        const std::set<int>& of = heard[static_cast<std::size_t>(i)];
        const double own = static_cast<double>(most + 2 - of.size()) * weight;
        rows.emplace_back();
        for (const int j : of) rows.back().push_back({j, j == i ? own : weight});
    }
    return Mixing(std::move(rows));
}

Mixing uniform_weights(const Mixing& graph) {
    std::vector<std::vector<MixingWeight>> rows;
    for (int i = 0; i < graph.nodes(); ++i) {
        const std::set<int> heard = heard_by(graph, i);
        rows.emplace_back();
        for (const int j : heard) rows.back().push_back({j, 1 / static_cast<double>(heard.size())});
    }
    return Mixing(std::move(rows));
}

ColumnSum worst_column(const Mixing& mixing) {
    std::vector<double> sums(static_cast<std::size_t>(mixing.nodes()));
    for (int i = 0; i < mixing.nodes(); ++i)
        for (const MixingWeight& w : mixing.row(i))
            sums[static_cast<std::size_t>(w.node)] += w.weight;
    const auto worst =
        std::ranges::max_element(sums, {}, [](double sum) { return std::abs(sum - 1); });
    return {static_cast<int>(worst - sums.begin()), *worst};
}

bool is_symmetric(const Mixing& mixing) {
    for (int i = 0; i < mixing.nodes(); ++i)
        for (const MixingWeight& w : mixing.row(i)) {
            const std::vector<MixingWeight>& theirs = mixing.row(w.node);
            const auto back = std::ranges::lower_bound(theirs, i, {}, &MixingWeight::node);
            if (back == theirs.end() || back->node != i || back->weight != w.weight) return false;
        }
    return true;
}

Mixing lazy(const Mixing& mixing) {
    std::vector<std::vector<MixingWeight>> rows;
    for (int i = 0; i < mixing.nodes(); ++i) {
        std::vector<MixingWeight> row = mixing.row(i);
        bool stays = false;
        for (MixingWeight& w : row) {
            w.weight /= 2;
            if (w.node != i) continue;
            w.weight += 0.5;
            stays = true;
        }
        if (!stays) row.push_back({i, 0.5});
        std::ranges::sort(row, {}, &MixingWeight::node);
        rows.push_back(std::move(row));
    }
    return Mixing(std::move(rows));
}

Mixing make_star_mixing(int nodes) {
    NodeGraph graph = unconnected(nodes);
    for (std::size_t j = 1; j < boost::num_vertices(graph); ++j) join(graph, 0, j);
    return weigh(graph);
}

Mixing make_grid_mixing(int rows, int columns) {
    return weigh(rectangle(rows, columns, false));
}

Mixing make_torus_mixing(int rows, int columns) {
    return weigh(rectangle(rows, columns, true));
}

Mixing make_hypercube_mixing(int nodes) {
    PACELINE_CHECK(nodes >= 1 && std::has_single_bit(static_cast<unsigned>(nodes)),
                   "a hypercube has a power of two of nodes");
    NodeGraph graph = unconnected(nodes);
    const std::size_t n = boost::num_vertices(graph);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t bit = 1; bit < n; bit *= 2) join(graph, i, i ^ bit);
    return weigh(graph);
}

Mixing make_exponential_mixing(int nodes) {
    PACELINE_CHECK(nodes >= 1, "a graph has a node or more");
    std::vector<std::vector<MixingWeight>> rows(static_cast<std::size_t>(nodes));
    for (int i = 0; i < nodes; ++i) {
        std::set<int> heard{i};
        for (std::int64_t away = 1; away < nodes; away *= 2)
            heard.insert(static_cast<int>((i + nodes - away) % nodes));
        for (const int j : heard)
            rows[static_cast<std::size_t>(i)].push_back({j, 1 / static_cast<double>(heard.size())});
    }
    return Mixing(std::move(rows));
}

Mixing make_symmetric_exponential_mixing(int nodes) {
    NodeGraph graph = unconnected(nodes);
    const std::size_t n = boost::num_vertices(graph);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t away = 1; 2 * away <= n; away *= 4) join(graph, i, (i + away) % n);
    return weigh(graph);
}

int rows_for(int nodes) {
    int rows = 1;
    for (int divisor = 1; std::int64_t{divisor} * divisor <= nodes; ++divisor)
        if (nodes % divisor == 0) rows = divisor;
    return rows;
}

}  // namespace paceline
