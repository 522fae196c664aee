#include "app/scenario/algorithms/algorithms.hpp"

#include <deque>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/algorithms/families.hpp"

namespace paceline {

namespace {

// Returns the keys of an entry. Algorithms that train also accept their own "optimizer".
Keys with_optimizer(Keys keys) {
    static std::deque<std::vector<std::string_view>> all;  // lives as long as the table
    std::vector<std::string_view>& mine = all.emplace_back(keys.begin(), keys.end());
    mine.emplace_back("optimizer");
    return mine;
}

std::vector<AlgorithmEntry> join_families() {
    std::vector<AlgorithmEntry> all;
    for (const auto& family :
         {dense_family(), sparse_family(), compressed_family(), adaptive_family(), local_family(),
          decentralized_family(), gossip_family(), server_family()})
        for (AlgorithmEntry entry : family) {
            entry.keys = with_optimizer(entry.keys);
            all.push_back(entry);
        }
    const auto measures = collective_family();
    all.insert(all.end(), measures.begin(), measures.end());
    return all;
}

}  // namespace

std::span<const AlgorithmEntry> algorithm_table() {
    static const std::vector<AlgorithmEntry> table = join_families();
    return table;
}

std::optional<Place> algorithm_optimizer(const Place& algorithm) {
    if (!algorithm.json->is_object()) return std::nullopt;
    const auto found = algorithm.json->find("optimizer");
    if (found == algorithm.json->end()) return std::nullopt;
    return algorithm.child("optimizer", *found);
}

AlgorithmChoice read_algorithm(const Place& place, const AlgorithmInput& in) {
    const std::span<const AlgorithmEntry> table = algorithm_table();
    const std::vector<std::string_view> names = names_of(table);
    const Place kind = kind_of(place, "an algorithm", names);
    const AlgorithmEntry& entry = table[as_name(kind, "an algorithm", names)];
    const ObjectReader read(place, entry.keys);
    AlgorithmChoice choice = entry.read(read, in);
    const auto label = read.optional("label");
    choice.label = label ? as_string(*label) : std::string(entry.name);
    return choice;
}

}  // namespace paceline
