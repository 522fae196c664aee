#include "app/scenario/algorithms/algorithms.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/islands.hpp"
#include "app/scenario/algorithms/own_exchange.hpp"
#include "app/scenario/algorithms/own_method.hpp"
#include "app/scenario/algorithms/words.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

std::vector<AlgorithmEntry> join_families() {
    std::vector<AlgorithmEntry> all;
    for (const AlgorithmFamily& family : algorithm_families())
        all.insert(all.end(), family.algorithms.begin(), family.algorithms.end());
    return all;
}

const AlgorithmFamily& family_of(std::string_view algorithm) {
    const std::span<const AlgorithmFamily> families = algorithm_families();
    return *std::ranges::find_if(families, [&](const AlgorithmFamily& family) {
        return std::ranges::find(family.algorithms, algorithm, &AlgorithmEntry::name) !=
               family.algorithms.end();
    });
}

}  // namespace

std::span<const AlgorithmFamily> algorithm_families() {
    static const auto families = std::to_array<AlgorithmFamily>({
        {"dense", "whole gradients averaged in every step", dense_family(), 0.2},
        {"sparse", "only the largest entries are sent, the rest accumulates", sparse_family(), 2.2},
        {"compressed", "gradients and models through a compressor", compressed_family(), 2.2},
        {"adaptive", "a step size per parameter, and compression to one bit per entry",
         adaptive_family(), 2.3},
        {"local", "workers train alone and average periodically", local_family(), 3.1},
        {"decentralized", "averages with neighbors in every step", decentralized_family(), 5.1},
        {"gossip", "push-sum, and pairs that meet without rounds", gossip_family(), 4.3},
        {"servers", "parameter servers and federated averaging", server_family(), 3.1},
        {"collective", "one collective per step, and no training", collective_family(), 0},
    });
    return families;
}

std::span<const AlgorithmEntry> algorithm_table() {
    static const std::vector<AlgorithmEntry> table = join_families();
    return table;
}

const AlgorithmEntry& algorithm_entry(std::string_view name) {
    const auto found = std::ranges::find(algorithm_table(), name, &AlgorithmEntry::name);
    PACELINE_CHECK(found != algorithm_table().end(), "an algorithm that was read has a row");
    return *found;
}

Keys algorithm_keys(const AlgorithmEntry& entry) {
    return definition_keys(entry.name);
}

std::optional<Place> algorithm_optimizer(const Place& algorithm) {
    if (!algorithm.json->is_object()) return std::nullopt;
    const auto found = algorithm.json->find("optimizer");
    if (found == algorithm.json->end()) return std::nullopt;
    return algorithm.child("optimizer", *found);
}

namespace {

// Reads an algorithm in today's words.
AlgorithmChoice read_in_todays_words(const Place& place, AlgorithmInput in) {
    std::vector<std::string_view> names = names_of(algorithm_table());
    for (const AlgorithmAlias& alias : algorithm_aliases())  // which errors name, too
        if (!alias.summary.empty()) names.push_back(alias.name);
    const Place kind = kind_of(place, "an algorithm", names);
    const AlgorithmEntry& entry = algorithm_entry(names[as_name(kind, "an algorithm", names)]);
    const std::optional<IslandsChoice> islands = read_islands(place, entry, in);
    if (entry.traits.has_server && islands && !in.uneven && in.workers % in.devices_per_node != 0)
        place.refuse(
            "its server is on a machine after the others, which are full: set \"cluster.nodes\" in "
            "place of \"devices\"");
    const ObjectReader read(place, algorithm_keys(entry));
    if (islands) in = islands->outer;
    in.exchanges = entry.exchanges;
    if (entry.traits.has_server && in.devices_per_node > 1)
        place.refuse(
            "its server has its own node and its clients are nodes: set "
            "\"cluster.devices_per_node\" to 1, or \"islands\" to \"machine\"");
    if (entry.traits.trains) check_own_exchange(read, in);
    AlgorithmChoice choice = entry.read(read, in);
    static_cast<AlgorithmTraits&>(choice) = entry.traits;
    if (choice.is_replicated && choice.when_nodes_die == WhenNodesDie::reruns_models)
        choice.when_nodes_die = WhenNodesDie::reruns_replicas;
    if (islands) put_on_islands(*islands, choice);
    if (entry.traits.has_server) choice.server_nodes = 1;
    if (!choice.vectors) choice.vectors = family_of(entry.name).vectors;
    const Keys keys = algorithm_keys(entry);
    choice.wire_is_default =
        std::ranges::find(keys, std::string_view("wire")) != keys.end() && !read.has("wire");
    const auto label = read.optional("label");
    choice.label = label ? as_string(*label) : std::string(entry.name);
    return choice;
}

}  // namespace

AlgorithmChoice read_algorithm(const Place& place, const AlgorithmInput& in) {
    if (const OwnMethodPtr method = own_method_of(place))
        return read_own_method(*method, place, in);
    const Words words = in_todays_words(place);
    try {
        return read_in_todays_words({words.algorithm.get(), place.file, place.path, place.sources},
                                    in);
    } catch (const ConfigError& error) {
        throw words.in_users_words(error, place.path);
    }
}

}  // namespace paceline
