#include "app/scenario/workload/data_ahead.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/scenario/cluster/cluster_choice.hpp"
#include "app/scenario/workload/data.hpp"
#include "models/tensors/parallel.hpp"

namespace paceline {

namespace {

const Json* below(const Json& json, const char* key) {
    if (!json.is_object()) return nullptr;
    const auto found = json.find(key);
    return found == json.end() ? nullptr : &*found;
}

// Returns nothing if the point has no data, or has errors.
std::optional<DataWish> wish_of(const Json& point, const std::string& file,
                                const Sources& sources) {
    const Json* const workload = below(point, "workload");
    const Json* const data = workload == nullptr ? nullptr : below(*workload, "data");
    const Json* const cluster = below(point, "cluster");
    if (data == nullptr || cluster == nullptr) return std::nullopt;
    try {
        std::uint64_t seed = 1;
        if (const Json* const p = below(point, "seed"))
            seed = static_cast<std::uint64_t>(
                as_integer({p, &file, "seed"}, 0, std::numeric_limits<std::int64_t>::max()));
        const int workers = read_cluster({cluster, &file, "cluster", &sources}, seed).workers;
        return data_wish({data, &file, "workload.data", &sources}, workers, seed);
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

}  // namespace

void make_data_ahead(std::span<const Json> points, const std::string& file,
                     const Sources& sources) {
    std::map<std::string, DataWish> wanted;
    for (const Json& point : points)
        if (std::optional<DataWish> wish = wish_of(point, file, sources);
            wish && !sources.shelf->has(wish->key))
            wanted.try_emplace(wish->key, std::move(*wish));
    if (wanted.size() < 2) return;  // the point itself makes it
    std::vector<const DataWish*> wishes;
    for (const auto& [key, wish] : wanted) wishes.push_back(&wish);
    std::vector<std::optional<Dataset>> made(wishes.size());
    parallel_for(wishes.size(), [&](std::size_t i) {
        try {
            made[i] = wishes[i]->make();
        } catch (const std::exception&) {
            made[i].reset();
        }
    });
    for (std::size_t i = 0; i < wishes.size(); ++i)
        if (made[i])
            sources.shelf->once<Dataset>(wishes[i]->key, [&] { return std::move(*made[i]); });
}

}  // namespace paceline
