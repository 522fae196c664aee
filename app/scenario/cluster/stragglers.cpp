#include "app/scenario/cluster/stragglers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/nodes/node_list.hpp"

namespace paceline {

namespace {

constexpr auto all_straggler_keys =
    std::to_array<std::string_view>({"factor", "nodes", "share", "one_node", "every", "first",
                                     "period", "for", "begin", "mean_between", "mean_length"});
constexpr double most_slowdown = 1e6;
constexpr std::int64_t most_period_steps = std::int64_t{1} << 40;

// Keys that say when nodes are slow, each with the keys that go with it.
struct Way {
    std::string_view key;
    std::array<std::string_view, 2> with;
};
constexpr auto ways = std::to_array<Way>({{"share", {"one_node", ""}},
                                          {"every", {"first", ""}},
                                          {"period", {"for", "begin"}},
                                          {"mean_between", {"mean_length", ""}}});

// Returns the way in which the object is specified, or none. Keys of two ways cannot be combined.
std::optional<std::string_view> read_way(const ObjectReader& read) {
    std::optional<std::string_view> way;
    std::string_view told_by;
    for (const Way& one : ways)
        for (const std::string_view key : {one.key, one.with[0], one.with[1]}) {
            if (key.empty() || !read.has(key)) continue;
            if (way && *way != one.key) read.not_both(told_by, key);
            way = one.key;
            told_by = key;
        }
    return way;
}

decltype(Stragglers::when) read_when(const ObjectReader& read) {
    const std::string_view way = read_way(read).value_or("share");
    if (way == "every") {
        Stragglers::EverySteps steps;
        steps.every = as_integer(read.required("every", "every how many steps, such as 10"), 1,
                                 most_period_steps);
        if (const auto p = read.optional("first"))
            steps.first = as_integer(*p, 0, most_period_steps);
        return steps;
    }
    if (way == "period") {
        Stragglers::EveryPeriod times;
        times.period =
            as_time(read.required("period", "from one slow interval to the next, such as \"60s\""));
        const Place length = read.required("for", "how long one is, such as \"5s\"");
        times.length = as_time(length);
        if (times.length > times.period) length.refuse("is longer than \"period\"");
        if (const auto p = read.optional("begin")) times.begin = as_duration(*p);
        return times;
    }
    if (way == "mean_between")
        return RandomIntervals{
            as_time(read.required("mean_between", "between slow intervals, such as \"60s\"")),
            as_time(read.required("mean_length", "of slow intervals, such as \"5s\""))};
    Stragglers::AtRandom random;
    if (const auto p = read.optional("share")) random.share = as_number_above(*p, 0, 1);
    if (const auto p = read.optional("one_node")) random.one_node = as_bool(*p);
    return random;
}

Stragglers read_one_straggler(const Place& place, int nodes) {
    const ObjectReader read(place, all_straggler_keys);
    Stragglers stragglers;
    const Place factor = read.required("factor", "how many times as long, such as 4");
    stragglers.factor = as_number_above(factor, 0, most_slowdown);
    if (stragglers.factor < 1) factor.refuse("a slow gradient takes longer: 1 or more");
    if (const auto p = read.optional("nodes")) stragglers.nodes = read_nodes(*p, nodes);
    stragglers.when = read_when(read);
    return stragglers;
}

// Adds the law of one object to the parts.
struct Add {
    const Stragglers& one;
    const Machines& machines;
    RandomStreams streams;
    ComputeParts& into;

    void operator()(const Stragglers::AtRandom& random) const {
        if (random.one_node)
            into.steps.push_back(
                one_slow_node(one.factor, random.share, chosen(), machines.nodes, streams));
        else if (random.share == 1)
            into.steps.push_back(always_slow(one.factor, chosen()));
        else
            into.steps.push_back(slow_at_random(one.factor, random.share, chosen(), streams));
    }
    void operator()(const Stragglers::EverySteps& steps) const {
        into.steps.push_back(slow_every(one.factor, steps.every, steps.first, chosen()));
    }
    void operator()(const Stragglers::EveryPeriod& times) const {
        into.phases.push_back(
            slow_periodically(one.factor, times.period, times.length, times.begin, chosen()));
    }
    void operator()(const RandomIntervals& means) const {
        into.phases.push_back(slow_at_intervals(one.factor, means, chosen(), streams));
    }

  private:
    [[nodiscard]] ChosenNodes chosen() const { return {one.nodes, machines.sizes}; }
};

}  // namespace

Keys straggler_keys() {
    return all_straggler_keys;
}

std::vector<Place> one_or_several(const Place& place) {
    if (!place.json->is_array()) return {place};
    if (place.json->empty()) place.refuse("is an empty list; give at least one object");
    std::vector<Place> all;
    for (std::size_t i = 0; i < place.json->size(); ++i) all.push_back(place.element(i));
    return all;
}

std::vector<Stragglers> read_stragglers(const Place& place, int nodes) {
    std::vector<Stragglers> all;
    for (const Place& one : one_or_several(place)) all.push_back(read_one_straggler(one, nodes));
    return all;
}

void add_stragglers(const std::vector<Stragglers>& all, const Machines& machines,
                    std::uint64_t seed, ComputeParts& into) {
    // Objects of a list draw independently. The first draws as if it were the only one.
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].factor == 1) continue;
        const RandomStreams streams(seed + i * 0x9e3779b97f4a7c15U);
        std::visit(Add{all[i], machines, streams, into}, all[i].when);
    }
}

}  // namespace paceline
