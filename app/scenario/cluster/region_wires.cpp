#include "app/scenario/cluster/region_wires.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/cluster/links.hpp"

namespace paceline {

namespace {

constexpr auto region_key_table = std::to_array<std::string_view>({"name", "nodes", "link"});

Region read_region(const ObjectReader& read, const std::optional<Cable>& usual, int nodes) {
    Region region;
    const Place name = read.required("name", "the region's, such as \"east\"");
    region.name = as_string(name);
    if (region.name.empty()) name.refuse("is empty; give the region a name, such as \"east\"");
    region.hosts = 0;  // not stated
    if (const auto p = read.optional("nodes"))
        region.hosts = static_cast<int>(as_integer(*p, 1, nodes));
    const Cable own = usual && !read.has("link")
                          ? *usual
                          : read_cable(read.required(
                                "link", "give it here, or one for all regions in the fabric"));
    region.up = own.up;
    region.down = own.down;
    return region;
}

// Gives the regions that state no nodes equal parts of those that the others leave.
void share_nodes(const Place& place, int nodes, std::vector<Region>& regions) {
    std::int64_t stated = 0;
    for (const Region& region : regions) stated += region.hosts;
    const auto open = std::ranges::count(regions, 0, &Region::hosts);
    const std::int64_t left = nodes - stated;
    if (open == 0 && left != 0)
        place.refuse(fmt::format("have {} nodes together; the cluster has {}", stated, nodes));
    if (open > 0 && (left < open || left % open != 0))
        place.refuse(
            fmt::format("leave {} of {} nodes to {} regions without \"nodes\", which do not divide "
                        "equally; give theirs",
                        std::max<std::int64_t>(left, 0), nodes, open));
    for (Region& region : regions)
        if (region.hosts == 0) region.hosts = static_cast<int>(left / open);
}

std::vector<Region> read_regions(const Place& place, const std::optional<Cable>& usual, int nodes) {
    if (!place.json->is_array() || place.json->empty() ||
        place.json->size() > std::size_t{most_regions})
        place.refuse(fmt::format(
            "is not a list of 1 to {} regions, such as [{{\"name\": \"east\"}}, {{\"name\": "
            "\"west\"}}]",
            most_regions));
    std::vector<Region> regions;
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const ObjectReader read(place.element(i), region_key_table);
        regions.push_back(read_region(read, usual, nodes));
        for (std::size_t other = 0; other < i; ++other)
            if (regions[other].name == regions[i].name)
                read.required("name", "its own")
                    .refuse("is listed twice; each region needs its own name");
    }
    share_nodes(place, nodes, regions);
    return regions;
}

// Calls `take(from, to, value)` for each ordered pair of regions, of a value for all or a matrix.
void for_each_pair(const Place& place, std::size_t regions,
                   const std::function<void(std::size_t, std::size_t, const Place&)>& take) {
    const bool is_matrix = place.json->is_array();
    if (is_matrix && place.json->size() != regions)
        place.refuse(fmt::format("has {} rows for {} regions; give one row for each, [from][to]",
                                 place.json->size(), regions));
    for (std::size_t from = 0; from < regions; ++from) {
        const Place row = is_matrix ? place.element(from) : place;
        if (is_matrix && (!row.json->is_array() || row.json->size() != regions))
            row.refuse(fmt::format("is not a row of {} values, one to each region, null to itself",
                                   regions));
        for (std::size_t to = 0; to < regions; ++to) {
            const Place value = is_matrix ? row.element(to) : row;
            if (from != to) take(from, to, value);
            if (is_matrix && from == to && !value.json->is_null())
                value.refuse(
                    "leads from a region to itself, which is its nodes' \"link\"; write null");
        }
    }
}

void check_capacity(const Place& loss, const std::vector<std::vector<Link>>& pipes) {
    for (std::size_t from = 0; from < pipes.size(); ++from)
        for (std::size_t to = 0; to < pipes.size(); ++to)
            if (from != to && pipes[from][to].capacity().bits_per_second == 0)
                loss.refuse("leaves no bandwidth; lower it");
}

}  // namespace

Keys region_keys() {
    return region_key_table;
}

Regions read_region_wires(const ObjectReader& read, int nodes) {
    std::optional<Cable> usual;
    if (const auto p = read.optional("link")) usual = read_cable(*p);
    Regions shape;
    shape.regions = read_regions(
        read.required("regions", "a list, such as [{\"name\": \"east\"}, {\"name\": \"west\"}]"),
        usual, nodes);
    const std::size_t count = shape.regions.size();
    shape.pipes.assign(count, std::vector<Link>(count));
    for_each_pair(read.required("bandwidth", "between regions: one for all pairs, or a matrix"),
                  count, [&](std::size_t from, std::size_t to, const Place& value) {
                      shape.pipes[from][to].bandwidth = as_bandwidth(value);
                  });
    for_each_pair(read.required("latency", "one way between regions: one, or a matrix"), count,
                  [&](std::size_t from, std::size_t to, const Place& value) {
                      shape.pipes[from][to].latency = as_duration(value);
                  });
    if (const auto p = read.optional("loss")) {
        for_each_pair(*p, count, [&](std::size_t from, std::size_t to, const Place& value) {
            shape.pipes[from][to].loss = as_share(value);
        });
        check_capacity(*p, shape.pipes);
    }
    return shape;
}

}  // namespace paceline
