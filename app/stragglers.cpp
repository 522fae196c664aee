#include "app/stragglers.hpp"

#include <algorithm>
#include <array>

#include <boost/random/uniform_01.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/engine/random.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 3> keys{"factor", "share", "nodes"};
constexpr double most_slowdown = 1e6;

}  // namespace

Keys straggler_keys() {
    return keys;
}

Stragglers read_stragglers(const Place& place, int nodes) {
    const ObjectReader read(place, keys);
    Stragglers stragglers;
    const Place factor = read.required("factor", "how many times as long, such as 4");
    stragglers.factor = as_number_above(factor, 0, most_slowdown);
    if (stragglers.factor < 1) factor.refuse("a slow gradient takes longer: 1 or more");
    if (const auto p = read.optional("share")) stragglers.share = as_number_above(*p, 0, 1);
    if (const auto p = read.optional("nodes")) {
        if (!p->json->is_array() || p->json->empty())
            p->refuse("is not a list of nodes, such as [0, 3]");
        for (std::size_t i = 0; i < p->json->size(); ++i)
            stragglers.nodes.push_back(static_cast<int>(as_integer(
                {&(*p->json)[i], p->file, fmt::format("{}[{}]", p->path, i)}, 0, nodes - 1)));
    }
    return stragglers;
}

Slowdown make_slowdown(const Stragglers& stragglers, int devices_per_node, std::uint64_t seed) {
    if (stragglers.factor == 1) return nullptr;
    return [stragglers, devices_per_node, streams = RandomStreams(seed)](int rank, std::int64_t k) {
        const int node = rank / devices_per_node;
        const std::vector<int>& slow = stragglers.nodes;
        if (!slow.empty() && std::ranges::find(slow, node) == slow.end()) return 1.0;
        if (stragglers.share == 1) return stragglers.factor;
        constexpr unsigned step_bits = 40;
        const auto index =
            (static_cast<std::uint64_t>(rank) << step_bits) + static_cast<std::uint64_t>(k);
        RandomStream random = streams.stream("stragglers", index);
        const double drawn = boost::random::uniform_01<double>()(random);
        return drawn < stragglers.share ? stragglers.factor : 1.0;
    };
}

}  // namespace paceline
