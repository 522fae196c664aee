#include "app/questions/obstacles.hpp"

#include <array>
#include <utility>

#include "app/run/what_if.hpp"

namespace paceline {

namespace {

constexpr auto namings = std::to_array<ObstacleNames>({
    {Obstacle::other_traffic, "other traffic", "other_traffic", "bound by other traffic",
     "waiting behind messages of other jobs and background traffic"},
    {Obstacle::failures, "node failures", "failures", "bound by failures",
     "failures and returns of nodes"},
    {Obstacle::unlike_nodes, "waiting for the slowest", "waiting_for_slowest",
     "bound by its slowest nodes", "waiting for nodes that are slower than the others"},
    {Obstacle::unsteady_links, "jitter, loss, outages", "unsteady_links", "bound by unsteady links",
     "jitter, loss and outages of links"},
    {Obstacle::protocol, "message overheads", "protocol", "bound by message overheads",
     "message overheads, slow start, and limits of flows and hosts"},
    {Obstacle::library, "starting and staging", "library", "bound by its communication library",
     "starting collectives, staging them, and clearances"},
    {Obstacle::latency, "latency", "latency", "latency-bound", "latency of links"},
    {Obstacle::core, "contention in the core", "core_contention",
     "bound by the core of the network", "contention for the links that nodes share"},
    {Obstacle::serialization, "serialization", "serialization", "bandwidth-bound",
     "serialization on the nodes' own links"},
    {Obstacle::servers, "servers' links", "servers_links", "bound by the servers' links",
     "serialization on the links of the servers"},
    {Obstacle::buses, "buses", "buses", "bus-bound", "transfers over the buses of the machines"},
    {Obstacle::idle, "idle by design", "idle", "bound by the algorithm's pauses",
     "idling required by the algorithm"},
    {Obstacle::coding, "coding", "coding", "bound by coding",
     "what the algorithm computes besides gradients"},
    {Obstacle::compute, "compute", "compute", "compute-bound", "computing gradients and updates"},
    {Obstacle::not_attributed, "not attributed", "not_attributed", "bound by an unknown cost",
     "not attributed, because runs failed (see the notes)"},
});

struct Removal {
    Obstacle what;
    bool (*is_there)(const Scenario& scenario);
    Scenario (*remove)(Scenario scenario);
};

const auto removals = std::to_array<Removal>({
    {Obstacle::other_traffic, &has_other_traffic, &without_other_traffic},
    {Obstacle::failures, [](const Scenario& s) { return s.cluster.failures.has_value(); },
     &without_failures},
    {Obstacle::unlike_nodes, &has_unlike_nodes, &with_nodes_alike},
    {Obstacle::unsteady_links,
     [](const Scenario& s) { return has_network(s) && has_unsteady_links(s); }, &with_steady_links},
    {Obstacle::protocol, [](const Scenario& s) { return has_network(s) && has_protocol_costs(s); },
     &without_protocol_costs},
    {Obstacle::library, [](const Scenario& s) { return has_network(s) && has_library(s); },
     &without_library},
    {Obstacle::latency, &has_network, &without_latency},
    {Obstacle::core, [](const Scenario& s) { return has_network(s) && has_core(s); },
     [](Scenario s) { return with_unlimited(std::move(s), Unlimited::core); }},
    {Obstacle::serialization, &has_network,
     [](Scenario s) { return with_unlimited(std::move(s), Unlimited::all_but_servers); }},
    {Obstacle::servers, [](const Scenario& s) { return s.algorithm.server_nodes > 0; },
     [](Scenario s) { return with_unlimited(std::move(s), Unlimited::network); }},
    {Obstacle::buses, [](const Scenario& s) { return s.cluster.bus.has_value(); },
     [](Scenario s) { return with_unlimited(std::move(s), Unlimited::buses); }},
});

bool comes_before_steady_steps(const std::optional<Obstacle>& without) {
    return !without || *without <= Obstacle::unlike_nodes;
}

}  // namespace

const ObstacleNames& naming_of(Obstacle what) {
    return namings[static_cast<std::size_t>(what)];
}

std::string name_of(Obstacle obstacle) {
    return std::string(naming_of(obstacle).name);
}

std::string key_of(Obstacle obstacle) {
    return std::string(naming_of(obstacle).key);
}

std::vector<LadderStep> ladder_of(const Scenario& as_it_is) {
    std::vector<LadderStep> ladder{{std::nullopt, as_it_is}};
    for (const Removal& removal : removals)
        if (removal.is_there(ladder.back().scenario))
            ladder.push_back({removal.what, removal.remove(ladder.back().scenario)});
    return ladder;
}

std::size_t rung_of_alike_nodes(const std::vector<LadderStep>& ladder) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < ladder.size(); ++i)
        if (comes_before_steady_steps(ladder[i].without)) last = i;
    return last;
}

}  // namespace paceline
