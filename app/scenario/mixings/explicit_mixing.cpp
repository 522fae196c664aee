#include "app/scenario/mixings/explicit_mixing.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "topologies/mixing/graphs.hpp"

namespace paceline {

namespace {

constexpr auto graph_weights =
    std::to_array<Spelling<GraphWeights>>({{"metropolis", GraphWeights::metropolis},
                                           {"uniform", GraphWeights::uniform},
                                           {"max-degree", GraphWeights::max_degree}});

// w_ij by j, without w_ii. An edge without a stated weight has none here.
using WeightsOfNode = std::map<int, std::optional<double>>;

struct Edges {
    std::vector<WeightsOfNode> rows;
    bool weighted = false;
};

Place item(const Place& list, std::size_t i) {
    return list.element(i);
}

void add(Edges& edges, const Place& place, int from, int to, std::optional<double> weight) {
    if (!edges.rows[static_cast<std::size_t>(from)].emplace(to, weight).second)
        place.refuse(fmt::format("node {} has node {} already", from, to));
}

void read_edge(Edges& edges, const Place& place, bool directed, bool is_first) {
    const Json& json = *place.json;
    if (!json.is_array() || json.size() < 2 || json.size() > 3)
        place.refuse("is not an edge, such as [0, 1] or [0, 1, 0.25]");
    const int last = static_cast<int>(edges.rows.size()) - 1;
    const int i = static_cast<int>(as_integer(item(place, 0), 0, last));
    const int j = static_cast<int>(as_integer(item(place, 1), 0, last));
    if (i == j)
        place.refuse("joins a node to itself; what the others leave of 1 stays with it anyway");
    const bool weighted = json.size() == 3;
    if (!is_first && weighted != edges.weighted)
        place.refuse("either every edge has a weight, or none");
    edges.weighted = weighted;
    std::optional<double> weight;
    if (weighted) weight = as_number_above(item(place, 2), 0, 1);
    add(edges, place, i, j, weight);
    if (!directed) add(edges, place, j, i, weight);
}

Edges read_edges(const Place& list, bool directed, int workers) {
    if (!list.json->is_array()) list.refuse("is not a list of edges, such as [[0, 1], [1, 2]]");
    Edges edges{std::vector<WeightsOfNode>(static_cast<std::size_t>(workers))};
    for (std::size_t e = 0; e < list.json->size(); ++e)
        read_edge(edges, item(list, e), directed, e == 0);
    return edges;
}

// Returns the weights as stated. The rest of each row goes to the node itself.
Mixing as_stated(const Edges& edges, const Place& list) {
    std::vector<std::vector<MixingWeight>> rows;
    for (int i = 0; std::cmp_less(i, edges.rows.size()); ++i) {
        std::map<int, double> row;
        double others = 0;
        for (const auto& [j, weight] : edges.rows[static_cast<std::size_t>(i)])
            others += row[j] = *weight;
        if (others > 1 + 1e-12)
            list.refuse(
                fmt::format("the weights of node {} sum to {:.6g}, more than 1", i, others));
        if (others < 1) row[i] = 1 - others;
        rows.emplace_back();
        for (const auto& [j, weight] : row) rows.back().push_back({j, weight});
    }
    return Mixing(std::move(rows));
}

Mixing uniform(const Edges& edges) {
    std::vector<std::vector<MixingWeight>> rows;
    for (int i = 0; std::cmp_less(i, edges.rows.size()); ++i) {
        WeightsOfNode row = edges.rows[static_cast<std::size_t>(i)];
        row.emplace(i, std::nullopt);
        rows.emplace_back();
        for (const auto& [j, weight] : row)
            rows.back().push_back({j, 1 / static_cast<double>(row.size())});
    }
    return Mixing(std::move(rows));
}

Mixing metropolis(const Edges& edges) {
    std::vector<std::vector<int>> neighbors;
    for (const WeightsOfNode& row : edges.rows) {
        neighbors.emplace_back();
        for (const auto& [j, weight] : row) neighbors.back().push_back(j);
    }
    return metropolis_hastings(neighbors);
}

}  // namespace

GraphWeights as_graph_weights(const Place& place) {
    return as_choice(place, "weights of a graph", graph_weights);
}

void check_columns(const Mixing& mixing, const Place& place) {
    constexpr double tolerance = 1e-9;
    const auto [column, sum] = worst_column(mixing);
    if (std::abs(sum - 1) > tolerance)
        place.refuse(
            fmt::format("does not preserve the mean: column {} of W, what others take from node {} "
                        "and it keeps, sums to {:.9g}, not 1 ({:+.3g})",
                        column, column, sum, sum - 1));
}

Mixing read_explicit_mixing(const ObjectReader& read, int workers, MixingUse use) {
    const Place list = read.required("edges", "such as [[0, 1], [1, 2]]");
    const auto direction = read.optional("directed");
    const bool directed = direction && as_bool(*direction);
    const Edges edges = read_edges(list, directed, workers);
    const auto weights = read.optional("weights");
    if (edges.weighted) {
        if (weights) weights->refuse("is for edges without their own weights");
        Mixing mixing = as_stated(edges, list);
        if (use == MixingUse::averages) check_columns(mixing, list);
        return mixing;
    }
    const GraphWeights otherwise = directed ? GraphWeights::uniform : GraphWeights::metropolis;
    const GraphWeights wanted = weights ? as_graph_weights(*weights) : otherwise;
    if (wanted == GraphWeights::metropolis && directed)
        weights->refuse("\"metropolis\" needs mutual neighbors; use \"uniform\"");
    if (wanted == GraphWeights::metropolis) return metropolis(edges);
    Mixing mixing = uniform(edges);
    if (wanted == GraphWeights::max_degree) mixing = max_degree_weights(mixing);
    if (use == MixingUse::averages) check_columns(mixing, weights.value_or(list));
    return mixing;
}

}  // namespace paceline
