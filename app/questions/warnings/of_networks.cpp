#include "app/questions/warnings/of_networks.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "app/run/intervals.hpp"
#include "app/run/nccl_pieces.hpp"
#include "app/run/seats.hpp"

namespace paceline {

std::string depends_on_drawn_routes(const Scenario& scenario) {
    if (!scenario.cluster.fabric.draws_routes || scenario.cluster.nodes < 2) return "";
    return "the seed decides which of the equally short routes a message takes, and times depend "
           "on it; sweep \"seed\" to see how much";
}

std::string unlike_validated(const Scenario& scenario) {
    const std::string_view why = scenario.interval ? why_unlike_all(scenario) : "";
    if (why.empty()) return "";
    return fmt::format(
        "{}, and no system of this kind was validated, so it gets the widest interval", why);
}

namespace {

struct RingHop {
    int from = 0;
    int to = 0;
    Duration latency{};
};

// Returns the latency from the first device of a machine to that of the next one, without buses.
RingHop hop_behind(int machine, const Scenario& scenario, const Fabric& fabric) {
    const MachineSizes& sizes = scenario.cluster.sizes;
    RingHop hop{machine, (machine + 1) % scenario.cluster.nodes};
    Route route;
    fabric.find_route(sizes.first_of(hop.from), sizes.first_of(hop.to), route);
    for (const LinkId link : route)
        if (fabric.label(link).role != LinkRole::bus)
            hop.latency = sum(hop.latency, fabric.links[link].latency);
    return hop;
}

// Returns whether vectors do, or a bucket of NCCL's, which may take rings for some.
bool goes_around(const Scenario& scenario) {
    return scenario.algorithm.goes_around ||
           std::ranges::any_of(nccl_pieces(scenario), [](const NcclPieces& pieces) {
               return pieces.choice.algorithm == Nccl::Algorithm::ring;
           });
}

}  // namespace

std::string unlike_hops(const Scenario& scenario) {
    constexpr std::int64_t noteworthy = 10;
    constexpr Duration negligible = std::chrono::microseconds(1);
    const ClusterChoice& cluster = scenario.cluster;
    if (!goes_around(scenario) || cluster.nodes < 2) return "";
    if (cluster.fabric.as_idle_star) return "";  // all of its cables are alike
    const Fabric fabric = fabric_of(scenario);
    RingHop shortest = hop_behind(0, scenario, fabric);
    RingHop longest = shortest;
    for (int machine = 1; machine < cluster.nodes; ++machine) {
        const RingHop hop = hop_behind(machine, scenario, fabric);
        if (hop.latency < shortest.latency) shortest = hop;
        if (hop.latency > longest.latency) longest = hop;
    }
    if (longest.latency <= multiple(noteworthy, std::max(shortest.latency, negligible))) return "";
    return fmt::format(
        "its ring takes {} from machine {} to {} and {} from {} to {}, and each round waits for "
        "the longest hop; \"levels\" that add up on either side of it first, a tree or "
        "halving-doubling have fewer rounds over it, and methods that exchange less often run "
        "fewer rings",
        to_string(shortest.latency), shortest.from, shortest.to, to_string(longest.latency),
        longest.from, longest.to);
}

std::string unbounded_connections(const Scenario& scenario) {
    constexpr Bandwidth one_fills{30'000'000'000};
    const ClusterChoice& cluster = scenario.cluster;
    if (!cluster.tcp || !cluster.tcp->flow.bound_nothing() || cluster.tcp->host_rate ||
        cluster.nodes < 2)
        return "";
    const Fabric fabric = fabric_of(scenario);
    Bandwidth fastest{};
    for (std::size_t i = 0; i < fabric.links.size(); ++i)
        if (fabric.label(static_cast<LinkId>(i)).role != LinkRole::bus)
            fastest = std::max(fastest, fabric.links[i].bandwidth);
    if (fastest <= one_fills) return "";
    return fmt::format(
        "each connection of \"cluster.transport\" may fill a link of {}; measured connections, "
        "which keep one core busy, reach 5 to 35 Gbps (paceline list transports): give its "
        "\"flow_rate\", or a \"preset\"",
        to_string(fastest));
}

std::string hierarchy_is_a_ring(const Scenario& scenario) {
    const ClusterChoice& cluster = scenario.cluster;
    if (!scenario.algorithm.names_hierarchy || cluster.workers < 2) return "";
    if (cluster.nodes > 1 && cluster.devices_per_node > 1) return "";
    const std::string_view why =
        cluster.nodes == 1 ? "there is one machine" : "each machine has one device";
    return fmt::format(
        "its all-reduce is hierarchical, and {}, so it works as a ring; its \"levels\" can be set "
        "to others, such as racks or regions",
        why);
}

}  // namespace paceline
