#include "app/scenario/nodes/node_list.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include <boost/random/uniform_int_distribution.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/engine/random.hpp"

namespace paceline {

namespace {

constexpr auto range_keys = std::to_array<std::string_view>({"from", "to", "step"});
constexpr auto words_for_nodes = std::to_array<std::string_view>({"all", "even", "odd"});

std::vector<int> every(int first, int last, int step) {
    std::vector<int> nodes;
    for (std::int64_t node = first; node <= last; node += step)
        nodes.push_back(static_cast<int>(node));
    return nodes;
}

std::vector<int> read_word(const Place& place, int nodes) {
    switch (as_name(place, "a choice of nodes", words_for_nodes)) {
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
            one.refuse(fmt::format("node {} is listed twice; list each once", named.back()));
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

namespace {

std::optional<Place> optional_child(const Place& object, std::string_view key) {
    const auto found = object.json->find(key);
    if (found == object.json->end()) return std::nullopt;
    return object.child(key, *found);
}

// Returns all nodes in random order.
std::vector<int> in_random_order(NodeDraw draw, std::string_view stream) {
    std::vector<int> order(static_cast<std::size_t>(draw.nodes));
    std::iota(order.begin(), order.end(), 0);
    RandomStream random = RandomStreams(draw.seed).stream(stream);
    for (std::size_t left = order.size(); left > 1; --left) {
        boost::random::uniform_int_distribution<std::size_t> choice(0, left - 1);
        std::swap(order[left - 1], order[choice(random)]);
    }
    return order;
}

// Deals the nodes that no object names to those with a share.
class Shares {
  public:
    Shares(NodeDraw draw, std::string_view stream, const std::vector<bool>& named)
        : nodes_(draw.nodes), free_(in_random_order(draw, stream)) {
        std::erase_if(free_, [&](int node) { return named[static_cast<std::size_t>(node)]; });
    }

    std::vector<int> next(const Place& place) {
        const double share = as_number_above(place, 0, 1);
        sum_ += share;
        const auto until = static_cast<std::size_t>(std::lround(sum_ * nodes_));
        if (sum_ > 1 + 1e-9)
            place.refuse(
                fmt::format("the shares of this list add up to {:.6g}; 1 is all nodes", sum_));
        if (until > free_.size())
            place.refuse(
                fmt::format("the shares of this list are {} of {} nodes, and \"nodes\" of other "
                            "objects leave {}; lower a share or name fewer nodes",
                            until, nodes_, free_.size()));
        std::vector<int> drawn(free_.begin() + static_cast<std::ptrdiff_t>(dealt_),
                               free_.begin() + static_cast<std::ptrdiff_t>(until));
        dealt_ = until;
        std::ranges::sort(drawn);
        return drawn;
    }

  private:
    int nodes_;
    std::vector<int> free_;
    double sum_ = 0;
    std::size_t dealt_ = 0;
};

}  // namespace

NodesOfObjects read_nodes_of(std::span<const Place> objects, NodeDraw draw,
                             std::string_view stream) {
    NodesOfObjects read{std::vector<std::optional<std::vector<int>>>(objects.size()), {}};
    std::vector<bool> named(static_cast<std::size_t>(draw.nodes));
    bool any_share = false;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const auto share = optional_child(objects[i], "share");
        any_share = any_share || share.has_value();
        const auto nodes = optional_child(objects[i], "nodes");
        if (nodes && share)
            share->refuse(
                "cannot be used with \"nodes\", because it draws them; give one of the two");
        if (!nodes) continue;
        read.nodes[i] = read_nodes(*nodes, draw.nodes);
        for (const int node : *read.nodes[i]) named[static_cast<std::size_t>(node)] = true;
    }
    if (!any_share) return read;
    Shares shares(draw, stream, named);
    for (std::size_t i = 0; i < objects.size(); ++i)
        if (const auto share = optional_child(objects[i], "share")) {
            read.nodes[i] = shares.next(*share);
            read.drawn.push_back(
                {objects[i].path, as_number_above(*share, 0, 1), draw.nodes, *read.nodes[i]});
        }
    return read;
}

}  // namespace paceline
