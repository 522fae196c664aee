#include "app/scenario/cluster/node_list.hpp"

#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

namespace {

constexpr auto range_keys = std::to_array<std::string_view>({"from", "to", "step"});
constexpr auto words = std::to_array<std::string_view>({"all", "even", "odd"});

std::vector<int> every(int first, int last, int step) {
    std::vector<int> nodes;
    for (std::int64_t node = first; node <= last; node += step)
        nodes.push_back(static_cast<int>(node));
    return nodes;
}

std::vector<int> read_word(const Place& place, int nodes) {
    switch (as_name(place, "a choice of nodes", words)) {
        case 0:
            return every(0, nodes - 1, 1);
        case 1:
            return every(0, nodes - 1, 2);
        default:
            if (nodes == 1) place.refuse("there is node 0 alone; name it by [0] or \"all\"");
            return every(1, nodes - 1, 2);
    }
}

std::vector<int> read_range(const Place& place, int nodes) {
    const ObjectReader read(place, range_keys);
    const auto first = static_cast<int>(
        as_integer(read.required("from", "the first node, such as 0"), 0, nodes - 1));
    const Place to = read.required("to", "the last node, which is one of them");
    const auto last = static_cast<int>(as_integer(to, 0, nodes - 1));
    if (last < first) to.refuse(fmt::format("lies before \"from\", {}", first));
    const auto step = read.optional("step");
    return every(first, last, step ? static_cast<int>(as_integer(*step, 1, nodes)) : 1);
}

std::vector<int> read_list(const Place& place, int nodes) {
    if (!place.json->is_array() || place.json->empty())
        place.refuse(
            "names no nodes; give a list such as [0, 3], a range such as {\"from\": 0, \"to\": 3}, "
            "\"all\", \"even\" or \"odd\"");
    std::vector<int> named;
    std::set<int> seen;
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const Place one = place.element(i);
        named.push_back(static_cast<int>(as_integer(one, 0, nodes - 1)));
        if (!seen.insert(named.back()).second)
            one.refuse(fmt::format("node {} stands twice; name each once", named.back()));
    }
    return named;
}

}  // namespace

Keys node_range_keys() {
    return range_keys;
}

std::vector<int> read_nodes(const Place& place, int nodes) {
    if (place.json->is_string()) return read_word(place, nodes);
    if (place.json->is_object()) return read_range(place, nodes);
    return read_list(place, nodes);
}

}  // namespace paceline
