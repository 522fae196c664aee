#include "app/scenario/cluster/node_speeds.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/nodes/node_list.hpp"

namespace paceline {

namespace {

constexpr auto speed_key_table =
    std::to_array<std::string_view>({"kind", "values", "sigma", "low", "high", "share", "speed",
                                     "device", "efficiency", "precision", "nodes"});
constexpr auto jitter_key_table =
    std::to_array<std::string_view>({"kind", "deviation", "sigma", "excess", "shape"});
constexpr double most_speed = 1e6;
constexpr double most_speed_sigma = 5;

// A kind and the keys that it accepts.
struct Kind {
    std::string_view name;
    std::array<std::string_view, 5> keys{};
};
constexpr auto speed_kinds =
    std::to_array<Kind>({{"list", {"values"}},
                         {"log-normal", {"sigma"}},
                         {"uniform", {"low", "high"}},
                         {"two-classes", {"share", "speed"}},
                         {"device", {"device", "efficiency", "precision", "nodes", "share"}}});
constexpr auto jitter_kinds = std::to_array<Kind>({{"normal", {"deviation"}},
                                                   {"log-normal", {"sigma"}},
                                                   {"exponential", {"excess"}},
                                                   {"pareto", {"shape"}}});

// Reads "kind" and refuses keys that belong to other kinds.
template <std::size_t N>
std::string_view read_kind(const ObjectReader& read, Keys keys, std::string_view what,
                           const std::array<Kind, N>& kinds) {
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) names[i] = kinds[i].name;
    const Kind& kind = kinds[as_name(kind_of(read.place(), what, names), what, names)];
    for (const std::string_view key : keys)
        if (const auto p = read.optional(key);
            p && key != "kind" && std::ranges::find(kind.keys, key) == kind.keys.end())
            p->refuse(fmt::format("is not an option of \"{}\"", kind.name));
    return kind.name;
}

double as_speed(const Place& place) {
    constexpr double least_speed = 1e-6;
    const double speed = as_number_above(place, 0, most_speed);
    if (speed < least_speed) place.refuse("a speed is at least 1e-6");
    return speed;
}

NodeSpeeds::Stated read_list(const ObjectReader& read, int nodes) {
    const Place values = read.required("values", "the speed of each node, such as [1, 1, 0.5]");
    if (!values.json->is_array() || std::cmp_not_equal(values.json->size(), nodes))
        values.refuse(fmt::format("is not a list of {} speeds, one for each node", nodes));
    NodeSpeeds::Stated stated;
    for (const Place& value : one_or_several(values)) stated.speeds.push_back(as_speed(value));
    return stated;
}

NodeSpeeds::Stated read_device(const ObjectReader& read, int nodes, Duration gradient,
                               const TimeOnDevice& time_on, const std::vector<int>& chosen) {
    const Place device = read.required("device", "a device's name, such as \"k80\"");
    const Duration time =
        time_on({device, read.optional("efficiency"), read.optional("precision")});
    if (gradient == Duration::zero() || time == Duration::zero())
        device.refuse(
            "a gradient of the workload takes no time, so it takes none on another device either");
    NodeSpeeds::Stated stated{std::vector<double>(static_cast<std::size_t>(nodes), 1.0)};
    for (const int node : chosen)
        stated.speeds[static_cast<std::size_t>(node)] = to_seconds(gradient) / to_seconds(time);
    return stated;
}

std::string_view read_kind_of_speeds(const Place& place) {
    return read_kind(ObjectReader(place, speed_key_table), speed_key_table, "a law of speeds",
                     speed_kinds);
}

// `chosen` are the nodes with a device.
NodeSpeeds read_speeds_of(const Place& place, int nodes, Duration gradient,
                          const TimeOnDevice& time_on, const std::vector<int>& chosen) {
    const ObjectReader read(place, speed_key_table);
    const std::string_view kind = read_kind_of_speeds(place);
    if (kind == "list") return {read_list(read, nodes)};
    if (kind == "device") return {read_device(read, nodes, gradient, time_on, chosen)};
    if (kind == "log-normal")
        return {NodeSpeeds::LogNormal{as_number_above(
            read.required("sigma", "deviation of the speed's logarithm, such as 0.3"), 0,
            most_speed_sigma)}};
    if (kind == "uniform") {
        const double low = as_speed(read.required("low", "the lowest speed, such as 0.5"));
        const Place p = read.required("high", "the highest speed, such as 1");
        const double high = as_speed(p);
        if (high < low) p.refuse("is below \"low\"");
        return {NodeSpeeds::Uniform{low, high}};
    }
    return {NodeSpeeds::TwoClasses{
        as_number_above(read.required("share", "of the nodes, such as 0.25"), 0, 1),
        as_speed(read.required("speed", "of that share, such as 0.5"))}};
}

std::vector<double> speeds_of(const NodeSpeeds& one, int nodes, RandomStreams streams) {
    if (const auto* law = std::get_if<NodeSpeeds::LogNormal>(&one.law))
        return log_normal_speeds(nodes, law->sigma, streams);
    if (const auto* law = std::get_if<NodeSpeeds::Uniform>(&one.law))
        return uniform_speeds(nodes, law->low, law->high, streams);
    if (const auto* law = std::get_if<NodeSpeeds::TwoClasses>(&one.law))
        return two_class_speeds(nodes, law->share, law->speed, streams);
    return std::get<NodeSpeeds::Stated>(one.law).speeds;
}

}  // namespace

Keys speed_keys() {
    return speed_key_table;
}
Keys jitter_keys() {
    return jitter_key_table;
}

std::vector<NodeSpeeds> read_speeds(const Place& place, NodeDraw draw, Duration gradient,
                                    const TimeOnDevice& time_on, std::vector<DrawnNodes>& drawn) {
    const std::vector<Place> objects = one_or_several(place);
    std::vector<Place> of_devices;
    for (const Place& one : objects) {
        if (read_kind_of_speeds(one) != "device") continue;
        if (const ObjectReader read(one, speed_key_table); !read.has("share"))
            static_cast<void>(read.required(
                "nodes", "those that have the device, such as [0, 3]; or give a \"share\""));
        of_devices.push_back(one);
    }
    NodesOfObjects nodes = read_nodes_of(of_devices, draw, "devices of nodes");
    std::ranges::move(nodes.drawn, std::back_inserter(drawn));
    std::vector<NodeSpeeds> all;
    for (std::size_t i = 0, device = 0; i < objects.size(); ++i) {
        const bool has_nodes = read_kind_of_speeds(objects[i]) == "device";
        all.push_back(read_speeds_of(objects[i], draw.nodes, gradient, time_on,
                                     has_nodes ? *nodes.nodes[device++] : std::vector<int>{}));
    }
    return all;
}

Jitter read_jitter(const Place& place) {
    const ObjectReader read(place, jitter_key_table);
    const std::string_view kind =
        read_kind(read, jitter_key_table, "a law of jitter", jitter_kinds);
    if (kind == "normal")
        return {JitterLaw::normal,
                as_number_above(read.required("deviation", "of the factor, such as 0.1"), 0, 1)};
    if (kind == "log-normal")
        return {JitterLaw::log_normal,
                as_number_above(read.required("sigma", "of the factor's logarithm, such as 0.1"), 0,
                                most_speed_sigma)};
    if (kind == "exponential")
        return {JitterLaw::exponential,
                as_number_above(read.required("excess", "above 1 in the mean, such as 0.1"), 0,
                                most_speed)};
    return {JitterLaw::pareto,
            as_number_above(read.required("shape", "above 1, such as 3"), 1, most_speed)};
}

std::vector<double> speeds_of_nodes(const std::vector<NodeSpeeds>& all, std::size_t i, int nodes,
                                    std::uint64_t seed) {
    // Objects of a list draw independently. The first draws as if it were the only one.
    return speeds_of(all[i], nodes, RandomStreams(seed + i * 0x9e3779b97f4a7c15U));
}

void add_speeds(const std::vector<NodeSpeeds>& all, const Machines& machines, std::uint64_t seed,
                ComputeParts& into) {
    for (std::size_t i = 0; i < all.size(); ++i)
        into.steps.push_back(
            by_speed(speeds_of_nodes(all, i, machines.nodes, seed), machines.sizes));
}

void add_jitter(Jitter law, std::uint64_t seed, ComputeParts& into) {
    into.steps.push_back(jitter(law, RandomStreams(seed)));
}

}  // namespace paceline
