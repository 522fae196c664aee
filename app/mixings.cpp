#include "app/mixings.hpp"

#include <array>
#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/names.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 3> keys{"kind", "rows", "lazy"};

constexpr std::array<MixingEntry, 8> table{{
    {"ring", "a node and its two neighbors, 1/3 each"},
    {"complete", "everybody with everybody, 1/n"},
    {"star", "everybody with the first node"},
    {"grid", "a rectangle of \"rows\" (default: closest to a square)"},
    {"torus", "the same with its sides joined"},
    {"hypercube", "2^m nodes; numbers that differ in one bit"},
    {"exponential", "directed: node i listens to i - 1, i - 2, i - 4, ..."},
    {"symmetric-exponential", "i +- 1, i +- 4, i +- 16, ..."},
}};

constexpr int most_of_complete = 10'000;  // its weights are the square

Mixing make(std::string_view name, int workers, int rows) {
    if (name == "ring") return make_ring_mixing(workers);
    if (name == "complete") return make_complete_mixing(workers);
    if (name == "star") return make_star_mixing(workers);
    if (name == "grid") return make_grid_mixing(rows, workers / rows);
    if (name == "torus") return make_torus_mixing(rows, workers / rows);
    if (name == "hypercube") return make_hypercube_mixing(workers);
    if (name == "exponential") return make_exponential_mixing(workers);
    return make_symmetric_exponential_mixing(workers);
}

}  // namespace

std::span<const MixingEntry> mixing_table() {
    return table;
}
Keys mixing_keys() {
    return keys;
}

std::function<Mixing()> read_mixing(const Place& place, int workers) {
    const std::vector<std::string_view> names = names_of(table);
    const ObjectReader read(place, keys);
    const Place kind = kind_of(place, "a mixing", names);
    const std::string_view name = names[as_name(kind, "a mixing", names)];
    if (name == "complete" && workers > most_of_complete)
        kind.refuse(fmt::format("complete mixings have at most {} workers", most_of_complete));
    if (name == "hypercube" && !std::has_single_bit(static_cast<unsigned>(workers)))
        kind.refuse(fmt::format("a hypercube has a power of two of workers, not {}", workers));
    int rows = rows_for(workers);
    if (const auto p = read.optional("rows")) {
        if (name != "grid" && name != "torus") p->refuse("is for \"grid\" and \"torus\" alone");
        rows = static_cast<int>(as_integer(*p, 1, workers));
        if (workers % rows != 0)
            p->refuse(fmt::format("{} workers do not fill {} equal rows", workers, rows));
    }
    const auto p = read.optional("lazy");
    const bool is_lazy = p && as_bool(*p);
    return [name, workers, rows, is_lazy] {
        Mixing mixing = make(name, workers, rows);
        return is_lazy ? lazy(mixing) : mixing;
    };
}

}  // namespace paceline
