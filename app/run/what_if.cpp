#include "app/run/what_if.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "app/run/step_costs.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Rounds to the nearest bit per second, and to at least one if the rate was not zero.
Bandwidth times(double factor, Bandwidth rate) {
    if (rate == unlimited || rate.bits_per_second == 0) return rate;
    const double exact = factor * static_cast<double>(rate.bits_per_second);
    constexpr double most = 0x1p62;  // below `unlimited`
    return {std::max<std::int64_t>(1, std::llround(std::min(exact, most)))};
}

Duration times(double factor, Duration span) {
    return from_seconds(factor * to_seconds(span));
}

// Applies a change to the fabric between machines when it is made.
template <class Change>
void change_fabric(ClusterChoice& cluster, Change change) {
    cluster.fabric.make = [make = std::move(cluster.fabric.make), change](int hosts,
                                                                          std::uint64_t seed) {
        Fabric fabric = make(hosts, seed);
        change(fabric);
        return fabric;
    };
}

template <class Change>
void change_links(ClusterChoice& cluster, Change change) {
    change_fabric(cluster,
                  [change](Fabric& fabric) { std::ranges::for_each(fabric.links, change); });
}

// Scales the bandwidths that processes set.
AccessKind times(double factor, const AccessKind& kind) {
    if (const auto* trace = std::get_if<std::shared_ptr<const LinkTrace>>(&kind)) {
        LinkTrace changed = **trace;
        for (LinkTrace::Row& row : changed.rows)
            row.bandwidth = {times(factor, row.bandwidth.up), times(factor, row.bandwidth.down)};
        return std::make_shared<const LinkTrace>(std::move(changed));
    }
    if (const auto* on_off = std::get_if<OnOff>(&kind)) {
        OnOff changed = *on_off;
        changed.bandwidth_off = times(factor, changed.bandwidth_off);
        return changed;
    }
    return kind;
}

void make_unlimited(Link& link) {
    link.bandwidth = unlimited;
    link.efficiency = 1;
    link.loss = 0;
}

// Returns the lanes of the buses of all machines.
std::vector<Link*> lanes_of(ClusterChoice& cluster) {
    std::vector<Link*> lanes;
    if (cluster.bus) lanes.push_back(&cluster.bus->lane);
    for (MachineShape& machine : cluster.uneven)
        if (machine.bus) lanes.push_back(&machine.bus->lane);
    return lanes;
}

bool is_unlimited(const LinkLabel& label, Unlimited what, int hosts) {
    switch (what) {
        case Unlimited::core:
            return label.role == LinkRole::core;
        case Unlimited::all_but_servers:
            return label.role == LinkRole::core || label.host < hosts;
        case Unlimited::network:
            return true;
        case Unlimited::buses:
            break;
    }
    return false;
}

// Returns the network alone, as it is made for this job.
Fabric network_of(const Scenario& scenario) {
    const ClusterChoice& cluster = scenario.cluster;
    const int servers = cluster.fabric.takes_servers ? scenario.algorithm.server_nodes : 0;
    const int hosts = cluster.uneven.empty() ? cluster.fabric_nodes : cluster.cards_in_all();
    return cluster.fabric.make(hosts + servers, scenario.seed);
}

bool is_unsteady(const Link& link) {
    return link.loss > 0 || link.jitter != LinkJitter{};
}

}  // namespace

Scenario with_bandwidth_times(Scenario scenario, double factor) {
    PACELINE_CHECK(factor > 0, "a bandwidth is multiplied by more than 0");
    ClusterChoice& cluster = scenario.cluster;
    change_links(cluster, [factor](Link& link) { link.bandwidth = times(factor, link.bandwidth); });
    if (auto& star = cluster.fabric.as_idle_star) star->bandwidth = times(factor, star->bandwidth);
    for (AccessChoice& access : cluster.access) access.kind = times(factor, access.kind);
    return scenario;
}

Scenario with_latency_times(Scenario scenario, double factor) {
    PACELINE_CHECK(factor >= 0, "a latency is multiplied by 0 or more");
    ClusterChoice& cluster = scenario.cluster;
    change_links(cluster, [factor](Link& link) { link.latency = times(factor, link.latency); });
    if (auto& star = cluster.fabric.as_idle_star) star->latency = times(factor, star->latency);
    return scenario;
}

Scenario with_message_cost(Scenario scenario, Duration cost) {
    if (auto& tcp = scenario.cluster.tcp; tcp && !scenario.cluster.transport().costs_hosts())
        tcp->message_cost = cost;
    return scenario;
}

Scenario with_flow_rate(Scenario scenario, Bandwidth rate) {
    if (auto& tcp = scenario.cluster.tcp; tcp && tcp->flow.rate == FlowLimits::unbounded)
        tcp->flow.rate = rate;
    return scenario;
}

Scenario with_compute_times(Scenario scenario, double factor) {
    PACELINE_CHECK(factor >= 0, "a time is multiplied by 0 or more");
    scenario.workload.gradient = times(factor, scenario.workload.gradient);
    scenario.workload.update = times(factor, scenario.workload.update);
    return scenario;
}

Scenario without_other_traffic(Scenario scenario) {
    scenario.other_jobs.clear();
    scenario.cluster.background.clear();
    return scenario;
}

Scenario without_failures(Scenario scenario) {
    scenario.cluster.failures.reset();
    return scenario;
}

Scenario with_nodes_alike(Scenario scenario) {
    scenario.cluster.stragglers.clear();
    scenario.cluster.speeds.clear();
    scenario.cluster.class_speeds.clear();
    scenario.cluster.compute_jitter.reset();
    return scenario;
}

Scenario with_steady_links(Scenario scenario) {
    ClusterChoice& cluster = scenario.cluster;
    cluster.access.clear();
    change_links(cluster, [](Link& link) {
        link.loss = 0;
        link.jitter = {};
    });
    if (std::exchange(cluster.fabric.idle_star_loss, 0) > 0) cluster.fabric.as_idle_star.reset();
    for (Link* lane : lanes_of(cluster)) {
        lane->loss = 0;
        lane->jitter = {};
    }
    return scenario;
}

Scenario without_protocol_costs(Scenario scenario) {
    ClusterChoice& cluster = scenario.cluster;
    cluster.fabric.overhead = Duration::zero();
    if (cluster.tcp) {
        cluster.tcp->message_cost = cluster.tcp->receive_cost = Duration::zero();
        cluster.tcp->first_window = Bytes{0};
        cluster.tcp->flow = {};
        cluster.tcp->host_rate.reset();
    }
    return scenario;
}

Scenario without_library(Scenario scenario) {
    scenario.cluster.library = {};
    return scenario;
}

Scenario without_latency(Scenario scenario) {
    scenario = with_latency_times(std::move(scenario), 0);
    for (Link* lane : lanes_of(scenario.cluster)) lane->latency = Duration::zero();
    return scenario;
}

Scenario with_unlimited(Scenario scenario, Unlimited what) {
    ClusterChoice& cluster = scenario.cluster;
    if (what == Unlimited::buses) {
        for (Link* lane : lanes_of(cluster)) make_unlimited(*lane);
        return scenario;
    }
    // The hosts of the fabric between machines are their cards
    const int hosts =
        cluster.uneven.empty() ? cluster.fabric_nodes * cluster.cards() : cluster.cards_in_all();
    change_fabric(cluster, [what, cards = hosts](Fabric& fabric) {
        for (std::size_t i = 0; i < fabric.links.size(); ++i)
            if (is_unlimited(fabric.label(static_cast<LinkId>(i)), what, cards))
                make_unlimited(fabric.links[i]);
    });
    if (what != Unlimited::core) cluster.fabric.as_idle_star.reset();
    return scenario;
}

Scenario on_the_clock_alone(Scenario scenario) {
    scenario.training.reset();
    return scenario;
}

bool has_other_traffic(const Scenario& scenario) {
    return !scenario.other_jobs.empty() || !scenario.cluster.background.empty();
}

bool has_unlike_nodes(const Scenario& scenario) {
    return scenario.cluster.compute_time(scenario.seed) != nullptr;
}

bool has_unsteady_links(const Scenario& scenario) {
    const ClusterChoice& cluster = scenario.cluster;
    if (!cluster.access.empty()) return true;
    if (cluster.bus && is_unsteady(cluster.bus->lane)) return true;
    for (const MachineShape& machine : cluster.uneven)
        if (machine.bus && is_unsteady(machine.bus->lane)) return true;
    return std::ranges::any_of(network_of(scenario).links, is_unsteady);
}

bool has_protocol_costs(const Scenario& scenario) {
    const Transport transport = scenario.cluster.transport();
    const auto& tcp = scenario.cluster.tcp;
    return transport.costs_hosts() || transport.first_window > Bytes{0} ||
           (tcp && (!tcp->flow.bound_nothing() || tcp->host_rate));
}

bool has_library(const Scenario& scenario) {
    const Library& library = scenario.cluster.library;
    return library.start_up > Duration::zero() || library.staging || library.sums ||
           library.occupies > 0 || library.protocol != Library{}.protocol;
}

bool has_core(const Scenario& scenario) {
    const Fabric fabric = network_of(scenario);
    for (std::size_t i = 0; i < fabric.links.size(); ++i)
        if (fabric.label(static_cast<LinkId>(i)).role == LinkRole::core) return true;
    return false;
}

bool has_network(const Scenario& scenario) {
    return scenario.cluster.workers > 1 || scenario.algorithm.server_nodes > 0;
}

std::optional<std::int64_t> steps_to_end_period(const Scenario& scenario) {
    const std::optional<std::int64_t> steps = scenario.steps_of_each();
    if (!steps || scenario.gradients_of_all()) return std::nullopt;
    const std::int64_t whole = steps_to_whole(scenario, *steps);
    if (whole == *steps || whole - *steps > most_steps_added) return std::nullopt;
    return whole;
}

std::optional<IdleStar> as_star(const Scenario& scenario) {
    const ClusterChoice& cluster = scenario.cluster;
    const int nodes = cluster.fabric_nodes;
    if (!cluster.fabric.one_cable_per_node || nodes < 2) return std::nullopt;
    const Fabric fabric = network_of(scenario);
    std::optional<Bandwidth> bandwidth;
    const auto alike = [&](const Link& link) {
        if (link.bandwidth == unlimited) return false;
        if (!bandwidth) bandwidth = link.capacity();
        return link.capacity() == *bandwidth && link.jitter == LinkJitter{};
    };
    IdleStar star;
    Route route;
    for (int i = 0; i < fabric.hosts; ++i)
        for (const bool from_first :
             {false, true}) {  // routes to node 0 and to the last node represent all
            const int other = from_first ? 0 : fabric.hosts - 1;
            if (other == i) continue;
            fabric.find_route(i, other, route);
            Duration latency{};
            for (const LinkId link : route) latency = sum(latency, fabric.links[link].latency);
            star.latency = std::max(star.latency, latency);
            if (!alike(fabric.links[route.front()]) || !alike(fabric.links[route.back()]))
                return std::nullopt;
        }
    star.bandwidth = *bandwidth;
    return star;
}

std::optional<Scenario> with_star_forms(Scenario scenario) {
    FabricChoice& fabric = scenario.cluster.fabric;
    if (fabric.as_idle_star) return scenario;
    const std::optional<IdleStar> star = as_star(scenario);
    if (!star) return std::nullopt;
    fabric.as_idle_star = *star;
    fabric.states_efficiency = network_of(scenario).links.front().efficiency < 1;
    return scenario;
}

}  // namespace paceline
