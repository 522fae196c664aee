#include "app/scenario/mixings/mixings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/own_parts.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/mixings/own_mixing.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline {

namespace {

constexpr auto mixing_kinds = std::to_array<MixingEntry>({
    {"ring", "a node and its two neighbors, 1/3 each"},
    {"complete", "every node with every node, 1/n"},
    {"star", "every node with the first one"},
    {"grid", "a rectangle of \"rows\" (default: closest to a square)"},
    {"torus", "the same with its sides joined"},
    {"hypercube", "2^m nodes; numbers that differ in one bit"},
    {"exponential", "directed: node i listens to i - 1, i - 2, i - 4, ..."},
    {"symmetric-exponential", "i +- 1, i +- 4, i +- 16, ..."},
    {"explicit",
     "the \"edges\" [i, j] or [i, j, w]; \"directed\": i listens to j; \"in_turn\": several, step "
     "by step"},
    {"one-peer-exponential", "directed, in turn: i - 1, then i - 2, then i - 4, ..., 1/2 each"},
    {"one-peer-hypercube", "2^m nodes in pairs, in turn by bit 0, bit 1, ..., 1/2 each"},
    {"one-peer-inner-outer",
     "directed, in turn one worker of each machine to the next machines, the others inside"},
    {"random-matching", "random pairs, drawn anew in every step, 1/2 each"},
});

constexpr int most_of_complete = 10'000;  // the number of its weights is the square

Mixing make_graph(std::string_view name, int workers, int rows) {
    if (name == "ring") return make_ring_mixing(workers);
    if (name == "complete") return make_complete_mixing(workers);
    if (name == "star") return make_star_mixing(workers);
    if (name == "grid") return make_grid_mixing(rows, workers / rows);
    if (name == "torus") return make_torus_mixing(rows, workers / rows);
    if (name == "hypercube") return make_hypercube_mixing(workers);
    if (name == "exponential") return make_exponential_mixing(workers);
    return make_symmetric_exponential_mixing(workers);
}

bool changes(std::string_view name) {
    return name.starts_with("one-peer-") || name == "random-matching";
}

bool is_rectangle(std::string_view name) {
    return name == "grid" || name == "torus";
}

// Returns the listeners per node, on average. Only the complete graph and explicit ones have many.
int most_listeners(std::string_view name, int workers) {
    if (changes(name)) return 1;
    if (name == "complete") return workers - 1;
    if (name.ends_with("exponential") || name.ends_with("hypercube"))
        return std::max(4, static_cast<int>(std::bit_width(static_cast<unsigned>(workers))));
    return name == "torus" || name == "grid" ? 4 : 2;
}

void check_nodes(const Place& kind, std::string_view name, int workers, int per_machine) {
    if (name == "one-peer-inner-outer" && workers > per_machine) {
        if (per_machine == 0)
            kind.refuse(
                "works by machine, and the machines of \"cluster.classes\" differ; use "
                "\"one-peer-exponential\"");
        if (workers % per_machine != 0)
            kind.refuse(fmt::format("needs full machines; {} workers are not a multiple of {}",
                                    workers, per_machine));
        if (per_machine == 2)
            kind.refuse(
                "needs one device per machine, or 3 or more: where one of two goes out, the other "
                "has no partner; use \"one-peer-exponential\"");
    }
    if (name == "complete" && workers > most_of_complete)
        kind.refuse(fmt::format("complete mixings have at most {} workers", most_of_complete));
    if (name.ends_with("hypercube") && !std::has_single_bit(static_cast<unsigned>(workers)))
        kind.refuse(fmt::format("a hypercube has a power of two of workers, not {}", workers));
}

// Refuses keys that belong to other kinds.
void check_keys(const ObjectReader& read, std::string_view name) {
    const auto p = read.optional("rows");
    if (p && !is_rectangle(name)) p->refuse("is for \"grid\" and \"torus\" alone");
    for (const char* key : {"edges", "directed", "in_turn", "workers"})
        if (const auto q = read.optional(key); q && name != "explicit")
            q->refuse("is for \"explicit\" alone");
    if (const auto q = read.optional("in_turn"))
        for (const char* key : {"edges", "directed", "weights"})
            if (read.has(key))
                q->refuse(
                    fmt::format("has its own in each entry; leave out the outer \"{}\"", key));
    const auto weights = read.optional("weights");
    if (weights && changes(name)) weights->refuse("is for mixings that do not change");
}

// Edges do not say for how many workers they are meant: a worker that no edge names stays alone.
void check_workers(const ObjectReader& read, int workers) {
    constexpr std::int64_t most = 1'000'000'000;
    const auto p = read.optional("workers");
    if (!p) return;
    const std::int64_t stated = as_integer(*p, 1, most);
    if (stated != workers)
        p->refuse(
            fmt::format("the mixing is one of {} workers, and {} average with each other here",
                        stated, workers));
}

MixingSchedule make_in_turn(std::string_view name, int workers, int per_machine) {
    if (name == "one-peer-hypercube") return make_one_peer_hypercube(workers);
    if (name == "one-peer-inner-outer" && workers > per_machine)
        return make_one_peer_inner_outer(workers / per_machine, per_machine);
    return make_one_peer_exponential(workers);
}

MixingSchedule make_changing(std::string_view name, int workers, int per_machine, bool is_lazy,
                             std::uint64_t seed) {
    if (name == "random-matching") return make_random_matching(workers, seed, is_lazy ? 0.25 : 0.5);
    MixingSchedule schedule = make_in_turn(name, workers, per_machine);
    return is_lazy ? lazy(schedule) : schedule;
}

int rows_of(const ObjectReader& read, int workers) {
    const auto p = read.optional("rows");
    if (!p) return rows_for(workers);
    const int rows = static_cast<int>(as_integer(*p, 1, workers));
    if (workers % rows != 0)
        p->refuse(fmt::format("{} workers do not fill {} equal rows", workers, rows));
    return rows;
}

// Reads a graph by name. Its weights are those of its maker, or uniform or max-degree on request.
std::function<Mixing()> read_graph(const ObjectReader& read, std::string_view name, int workers,
                                   MixingUse use) {
    const int rows = is_rectangle(name) ? rows_of(read, workers) : 0;
    const auto p = read.optional("weights");
    const std::optional<GraphWeights> wanted =
        p ? std::optional(as_graph_weights(*p)) : std::nullopt;
    if (wanted == GraphWeights::metropolis && name == "exponential")
        p->refuse("\"metropolis\" needs mutual neighbors; use \"uniform\"");
    if (!wanted || *wanted == GraphWeights::metropolis)
        return [name, workers, rows] { return make_graph(name, workers, rows); };
    const Mixing graph = make_graph(name, workers, rows);
    const auto made = std::make_shared<const Mixing>(
        *wanted == GraphWeights::uniform ? uniform_weights(graph) : max_degree_weights(graph));
    if (use == MixingUse::averages) check_columns(*made, *p);
    return [made] { return *made; };
}

// Reads mixings that steps use in turn, each with its own edges and weights.
std::vector<Mixing> read_in_turn(const Place& list, int workers, MixingUse use) {
    constexpr auto keys = std::to_array<std::string_view>({"edges", "directed", "weights"});
    constexpr std::size_t most = 10'000;
    if (!list.json->is_array() || list.json->empty() || list.json->size() > most)
        list.refuse(
            fmt::format("is not a list of 1 to {} mixings, such as [{{\"edges\": [[0, 1]]}}, "
                        "{{\"edges\": [[1, 2]]}}]",
                        most));
    std::vector<Mixing> all;
    for (std::size_t i = 0; i < list.json->size(); ++i)
        all.push_back(read_explicit_mixing(ObjectReader(list.element(i), keys), workers, use));
    return all;
}

}  // namespace

std::span<const MixingEntry> mixing_table() {
    return mixing_kinds;
}

MixingChoice read_mixing(const Place& place, int workers, MixingUse use, int per_machine) {
    if (const auto own = own_part_of(place, &OwnParts::mixing, "a mixing"))
        return read_own_mixing(*own, place, workers, use);
    const std::vector<std::string_view> names = names_of(mixing_kinds);
    const ObjectReader read(place, definition_keys("mixing"));
    const Place kind = kind_of(place, "a mixing", names);
    const std::string_view name = names[as_name(kind, "a mixing", names)];
    check_nodes(kind, name, workers, per_machine);
    check_keys(read, name);
    check_workers(read, workers);
    const auto p = read.optional("lazy");
    const bool is_lazy = p && as_bool(*p);

    MixingChoice choice;
    choice.name = fmt::format("{}{}", name, is_lazy ? ", lazy" : "");
    choice.json = place.json->dump();
    choice.may_have_parts = name == "explicit";
    choice.degree = most_listeners(name, workers);
    choice.meets_everybody = choice.degree == workers - 1 || name == "random-matching";
    if (changes(name)) {
        choice.make = [name, workers, per_machine, is_lazy](std::uint64_t seed) {
            return make_changing(name, workers, per_machine, is_lazy, seed);
        };
        return choice;
    }
    if (const auto list = read.optional("in_turn")) {
        const auto made =
            std::make_shared<const std::vector<Mixing>>(read_in_turn(*list, workers, use));
        for (const Mixing& mixing : *made)
            for (int i = 0; i < workers; ++i)
                choice.degree =
                    std::max(choice.degree, static_cast<int>(mixing.listeners(i).size()));
        choice.make = [made, is_lazy](std::uint64_t /*seed*/) {
            MixingSchedule schedule = MixingSchedule::periodic(*made);
            return is_lazy ? lazy(schedule) : schedule;
        };
        return choice;
    }
    std::function<Mixing()> graph;
    if (name == "explicit") {
        const auto made = std::make_shared<const Mixing>(read_explicit_mixing(read, workers, use));
        for (int i = 0; i < workers; ++i)
            choice.degree = std::max(choice.degree, static_cast<int>(made->listeners(i).size()));
        graph = [made] { return *made; };
    } else {
        graph = read_graph(read, name, workers, use);
    }
    choice.make = [graph, is_lazy](std::uint64_t /*seed*/) {
        return MixingSchedule(is_lazy ? lazy(graph()) : graph());
    };
    return choice;
}

}  // namespace paceline
