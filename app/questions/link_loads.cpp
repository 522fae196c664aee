#include "app/questions/link_loads.hpp"

#include <algorithm>
#include <utility>

#include "app/questions/explained_runs.hpp"
#include "app/run/link_names.hpp"
#include "app/run/seats.hpp"

namespace paceline {

namespace {

void add_link(LinkLoads& loads, const std::string& kind, const LinkLoad& load) {
    auto found = std::ranges::find(loads.kinds, kind, &LinkKind::kind);
    if (found == loads.kinds.end()) found = loads.kinds.insert(found, {kind, 0, 0, 0, load});
    ++found->links;
    found->mean_busy += load.busy;
    found->mean_used += load.used;
    if (load.used > found->busiest.used) found->busiest = load;
    if (load.busy > 0) loads.most_loaded.push_back(load);
}

LinkLoad load_of(const Metrics& run, const Link& link, Bytes bytes, Duration busy) {
    const auto carried = static_cast<double>(bytes.count);
    const double bytes_per_s = static_cast<double>(link.capacity().bits_per_second) / 8;
    LinkLoad load;
    load.busy = to_seconds(busy) / run.sim_time_s;
    if (bytes_per_s > 0) load.used = carried / bytes_per_s / run.sim_time_s;
    if (run.iterations > 0) load.bytes_per_step = carried / run.iterations;
    return load;
}

}  // namespace

LinkLoads link_loads(const Scenario& scenario, const Metrics& run, const LinkUse& use) {
    LinkLoads loads;
    if (run.sim_time_s == 0) return loads;
    const Fabric fabric = fabric_of(scenario);
    const Time end{from_seconds(run.sim_time_s)};
    const int nodes = scenario.cluster.fabric_nodes;
    const std::vector<std::string> owners = traffic_owners(scenario);
    for (LinkId link = 0; link < fabric.links.size(); ++link) {
        const LinkLabel label = fabric.label(link);
        LinkLoad load = load_of(run, fabric.links[link], use.bytes(link), use.busy(link, end));
        load.number = link;
        load.name = name_of_link(label, nodes);
        const auto all = static_cast<double>(use.bytes(link).count);
        for (std::size_t owner = 0; owner < owners.size() && all > 0; ++owner)
            load.by_job.emplace_back(owners[owner],
                                     static_cast<double>(use.bytes_of(owner, link).count) / all);
        add_link(loads, kind_of_link(label, nodes), load);
    }
    for (LinkKind& kind : loads.kinds) {
        kind.mean_busy /= static_cast<double>(kind.links);
        kind.mean_used /= static_cast<double>(kind.links);
    }
    std::erase_if(loads.kinds, [](const LinkKind& kind) { return kind.mean_busy == 0; });
    std::ranges::sort(loads.most_loaded, [](const LinkLoad& a, const LinkLoad& b) {
        return std::pair(b.used, a.number) < std::pair(a.used, b.number);
    });
    constexpr std::size_t most = 20;
    if (loads.most_loaded.size() > most) loads.most_loaded.resize(most);
    return loads;
}

}  // namespace paceline
