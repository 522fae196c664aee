#include "app/scenario/cluster/cluster_choice.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/cluster/buses.hpp"
#include "app/scenario/cluster/libraries.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/nodes/sites.hpp"
#include "sim/network/loss.hpp"
#include "topologies/fabrics/placed.hpp"

namespace paceline {

namespace {

constexpr auto keys = std::to_array<std::string_view>(
    {"nodes", "devices", "devices_per_node", "nics", "bus", "fabric", "transport", "library",
     "stragglers", "speeds", "compute_jitter", "failures", "access", "placement", "background",
     "testbed", "classes", "sites"});

constexpr std::int64_t most_nodes = 100'000'000;

void check_host_rate(const Place& place, const ClusterChoice& cluster) {
    if (cluster.cards() > 1)
        place.refuse(
            "limits one card, and \"nics\" is larger; give the fabric's link a lower "
            "\"bandwidth\"");
    if (!cluster.fabric.one_cable_per_node)
        place.refuse(
            "limits the only cable of a node; nodes of this fabric have several. Give the links a "
            "lower \"bandwidth\"");
}

std::vector<AccessChoice> read_own_links(const Place& place, std::uint64_t seed,
                                         ClusterChoice& cluster) {
    if (cluster.devices_per_node > 1)
        place.refuse(fmt::format(
            "changes the links of nodes with one device each; \"devices_per_node\" is {}",
            cluster.devices_per_node));
    if (cluster.tcp && cluster.tcp->host_rate)
        place.refuse("changes what \"transport.host_rate\" bounds; give one of them");
    if (!cluster.fabric.one_cable_per_node)
        place.refuse(
            "changes the links of nodes with one cable each; those of this fabric have several");
    return read_access(place, {cluster.nodes, seed}, cluster.drawn);
}

}  // namespace

void place_job(const Place& place, ClusterChoice& cluster) {
    if (cluster.workers % cluster.devices_per_node != 0)
        place.refuse(fmt::format("needs full machines; {} devices fill the last of {} in part",
                                 cluster.workers, cluster.fabric_nodes));
    cluster.placement = read_nodes(place, cluster.fabric_nodes);
    cluster.nodes = static_cast<int>(cluster.placement.size());
    cluster.workers = cluster.nodes * cluster.devices_per_node;
}

Keys cluster_keys() {
    return keys;
}
namespace {

void take_machine(const MachineShape& machine, ClusterChoice& cluster) {
    cluster.devices_per_node = machine.devices;
    cluster.bus = machine.bus;
    cluster.sizes = MachineSizes(machine.devices);
}

// Takes the machines of the classes. Where they differ, reports see the largest.
void take_classes(const Place& classes, const ObjectReader& read, const MachineShape& usual,
                  ClusterChoice& cluster) {
    std::vector<MachineShape> machines = machines_of(cluster.classes, cluster.nodes, usual);
    if (std::ranges::all_of(machines, [&](const MachineShape& m) { return m == usual; })) return;
    if (const auto p = read.optional("devices"))
        p->refuse("fills identical machines; those of \"classes\" differ: give \"nodes\"");
    MachineShape largest = machines.front();
    std::vector<int> sizes;
    std::int64_t devices = 0;
    for (const MachineShape& machine : machines) {
        if (!largest.bus) largest.bus = machine.bus;
        largest.devices = std::max(largest.devices, machine.devices);
        if (machine.cards() > largest.cards()) largest.bus->cards = machine.cards();
        sizes.push_back(machine.devices);
        devices += machine.devices;
    }
    if (devices > most_nodes)
        classes.refuse(
            fmt::format("make {} devices; a cluster has at most {}", devices, most_nodes));
    if (largest.cards() > 1) check_fabric_of_cards(classes, read);
    take_machine(largest, cluster);
    cluster.workers = static_cast<int>(devices);
    if (std::ranges::all_of(machines, [&](const MachineShape& m) { return m == largest; })) return;
    cluster.uneven = std::move(machines);
    cluster.sizes = MachineSizes(sizes);
}

// Reads how many machines there are, and what each holds.
void read_machines_of_nodes(const ObjectReader& read, std::uint64_t seed, ClusterChoice& cluster) {
    read.not_both("nodes", "devices");
    const MachineShape usual = read_machine_shape(read, {});
    take_machine(usual, cluster);
    if (const auto p = read.optional("devices")) {
        static_cast<void>(read.required("devices_per_node", "how many devices a machine holds"));
        cluster.workers = static_cast<int>(as_integer(*p, 1, most_nodes));
        cluster.nodes = machines_for(cluster.workers, cluster.devices_per_node);
    } else {
        const Place nodes = read.required("nodes", "how many nodes");
        cluster.nodes = static_cast<int>(as_integer(nodes, 1, most_nodes));
        if (cluster.nodes > most_nodes / cluster.devices_per_node)
            nodes.refuse(fmt::format("a cluster has at most {} devices", most_nodes));
        cluster.workers = cluster.nodes * cluster.devices_per_node;
    }
    if (const auto p = read.optional("nics"); p && usual.cards() > 1)
        check_fabric_of_cards(*p, read);
    if (const auto p = read.optional("classes")) {
        cluster.classes = read_node_classes(*p, {cluster.nodes, seed}, usual, cluster.drawn);
        take_classes(*p, read, usual, cluster);
    }
}

// Reads the cables of classes. A star of them is no star of equal links.
void read_cables(const Place& classes, const ObjectReader& read, ClusterChoice& cluster) {
    read_links_of_classes(classes, cluster.fabric.read_own_cable, cluster.classes);
    bool has_links = false;
    for (std::size_t i = 0; i < cluster.classes.size(); ++i) {
        const std::optional<Cable>& link = cluster.classes[i].link;
        if (!link) continue;
        const Place place = *ObjectReader(classes.element(i), node_class_keys()).optional("link");
        if (!cluster.fabric.one_cable_per_node)
            place.refuse(
                "is for the only cable of a node; nodes of this fabric have several. Give them in "
                "the fabric");
        if (read.optional("fabric")->json->contains("other_links"))
            place.refuse("duplicates \"fabric.other_links\"; give links in one of them");
        if (!cluster.fabric.usual_cable || *cluster.fabric.usual_cable != *link)
            cluster.fabric.as_idle_star.reset();
        has_links = true;
    }
    if (!has_links) return;
    cluster.fabric.make = [make = cluster.fabric.make, classes = cluster.classes,
                           first = cluster.first_cards()](int hosts, std::uint64_t seed) {
        Fabric fabric = make(hosts, seed);
        replace_links_of_classes(classes, first, fabric);
        return fabric;
    };
}

void refuse_beside_classes(const ObjectReader& read, const ClusterChoice& cluster) {
    if (const auto p = read.optional("placement"); p && !cluster.classes.empty())
        p->refuse("cannot be used with \"classes\", which name the nodes of the fabric");
    if (cluster.uneven.empty()) return;
    if (const auto p = read.optional("background"))
        p->refuse("is for identical machines; those of \"classes\" differ");
}

}  // namespace

ClusterChoice read_cluster(const Place& place, std::uint64_t seed) {
    const ObjectReader read(place, keys);
    ClusterChoice cluster;
    read_machines_of_nodes(read, seed, cluster);
    cluster.fabric_nodes = cluster.nodes;
    cluster.fabric = read_fabric(
        read.required("fabric", "the wires, such as {\"kind\": \"star\", \"link\": ...}"),
        cluster.cards_in_all(), seed);
    std::ranges::copy(cluster.fabric.drawn, std::back_inserter(cluster.drawn));
    if (const auto p = read.optional("classes")) read_cables(*p, read, cluster);
    refuse_beside_classes(read, cluster);
    if (const auto p = read.optional("sites"))
        cluster.sites = read_sites(*p, cluster.fabric_nodes, cluster.fabric.levels);
    if (const auto p = read.optional("placement")) place_job(*p, cluster);
    if (const auto p = read.optional("background"))
        cluster.background = read_background(*p, cluster.fabric_nodes);
    if (const auto p = read.optional("transport")) {
        cluster.tcp = read_transport(*p);
        if (cluster.tcp && cluster.tcp->host_rate)
            check_host_rate(p->child("host_rate", p->json->at("host_rate")), cluster);
        if (cluster.tcp && cluster.tcp->message_cost > Duration::zero() &&
            cluster.fabric.overhead > Duration::zero())
            p->refuse(
                "\"message_cost\" and the fabric's \"overhead\" are the same; give one of them");
    }
    if (const auto p = read.optional("library")) {
        const LibraryChoice chosen = read_library(*p, {cluster.workers,
                                                       cluster.devices_per_node,
                                                       {},
                                                       cluster.cards(),
                                                       cluster.as_nccl_sees_it(seed),
                                                       !cluster.uneven.empty(),
                                                       cluster.levels(),
                                                       cluster.sizes});
        cluster.library = chosen.library;
        cluster.library_all_reduce = chosen.all_reduce;
    }
    if (const auto p = read.optional("stragglers"))
        cluster.stragglers = read_stragglers(*p, cluster.nodes);
    if (const auto p = read.optional("compute_jitter")) cluster.compute_jitter = read_jitter(*p);
    if (const auto p = read.optional("failures"))
        cluster.failures = read_failures(*p, {cluster.nodes, seed}, cluster.drawn);
    if (const auto p = read.optional("access")) cluster.access = read_own_links(*p, seed, cluster);
    return cluster;
}

namespace {

// Payload of a host's cable is bounded, whichever of its link and the host is slower.
void bound_by_host(Bandwidth rate, Link& link) {
    const Bandwidth both_ways = link.duplex_share * link.capacity();
    if (link.capacity() <= rate) return;
    link.duplex_share = std::min(1.0, static_cast<double>(both_ways.bits_per_second) /
                                          static_cast<double>(rate.bits_per_second));
    link.bandwidth = 1 / (1 - link.loss) * rate;
    link.efficiency = 1;
}

}  // namespace

int ClusterChoice::cards_in_all() const {
    if (uneven.empty()) return nodes * cards();
    int all = 0;
    for (const MachineShape& machine : uneven) all += machine.cards();
    return all;
}

std::vector<int> ClusterChoice::first_cards() const {
    std::vector<int> first;
    if (cards() == 1) return first;
    for (int node = 0; node <= nodes; ++node)
        first.push_back(node == 0 || !uneven.empty() ? 0 : node * cards());
    for (std::size_t i = 0; i < uneven.size(); ++i) first[i + 1] = first[i] + uneven[i].cards();
    return first;
}

Levels ClusterChoice::levels() const {
    return levels_of_job(nodes, fabric.levels, sites, placement);
}

Fabric ClusterChoice::wires(int machines, std::uint64_t seed) const {
    const int hosts = uneven.empty() ? machines * cards() : cards_in_all() + machines - nodes;
    Fabric between = fabric.make(hosts, seed);
    if (!tcp) return between;
    for (Link& link : between.links) {
        if (link.efficiency == 1) link.efficiency = tcp->goodput_of(link.bandwidth);
        link.duplex_share = tcp->duplex_share;
    }
    if (tcp->host_rate)
        for (std::size_t link = 0; link < between.links.size(); ++link)
            if (between.label(static_cast<LinkId>(link)).role == LinkRole::node)
                bound_by_host(*tcp->host_rate, between.links[link]);
    return between;
}

Fabric ClusterChoice::make_fabric(int servers, std::uint64_t seed) const {
    Fabric between = wires(nodes + servers, seed);
    if (!uneven.empty()) {
        std::vector<MachineShape> machines = uneven;
        machines.resize(machines.size() + static_cast<std::size_t>(servers));
        return make_uneven_machines(machines, std::move(between));
    }
    if (!bus) return between;
    const int devices = servers > 0 ? (nodes + servers) * devices_per_node : workers;
    return make_machines(devices, devices_per_node, *bus, std::move(between));
}

Fabric ClusterChoice::make_fabric(const Seating& seating, std::uint64_t seed) const {
    const auto machines = static_cast<int>(seating.nodes.size());
    std::vector<int> places;
    for (const int node : seating.nodes)
        for (int card = 0; card < cards(); ++card) places.push_back(node * cards() + card);
    Fabric between = make_placed(std::move(places), wires(fabric_nodes + seating.servers, seed));
    if (!bus) return between;
    return make_machines(machines * devices_per_node, devices_per_node, *bus, std::move(between));
}

Transport ClusterChoice::transport() const {
    if (!tcp) return {.overhead = fabric.overhead};
    return {.overhead = std::max(fabric.overhead, tcp->message_cost),
            .receive_cost = tcp->receive_cost,
            .first_window = tcp->first_window,
            .flow = tcp->flow};
}

Bytes ClusterChoice::bus_memory() const {
    if (!bus) return {};
    constexpr Bytes per_link{128};  // same figure as in fabrics.cpp for the two of a cable
    const int links_each = bus->kind == BusKind::direct ? devices_per_node : 3;
    return std::int64_t{workers} * links_each * per_link;
}

ComputeParts ClusterChoice::deviations(std::uint64_t seed) const {
    const Machines machines{nodes, sizes};
    ComputeParts parts;
    add_speeds(speeds, machines, seed, parts);
    add_stragglers(stragglers, machines, seed, parts);
    if (compute_jitter) add_jitter(*compute_jitter, seed, parts);
    return parts;
}

ComputeTime ClusterChoice::compute_time(std::uint64_t seed) const {
    ComputeParts parts = deviations(seed);
    if (!class_speeds.empty()) parts.steps.push_back(by_speed(class_speeds, MachineSizes(1)));
    return make_compute_time(std::move(parts));
}

IdleStar ClusterChoice::with_limited_flows(IdleStar star) const {
    const Bandwidth bound =
        tcp ? tcp->flow.bound(multiple(2, star.latency)) : FlowLimits::unbounded;
    if (bound >= star.bandwidth) return star;
    star.card = star.bandwidth;
    star.bandwidth = bound;
    return star;
}

Nccl ClusterChoice::as_nccl_sees_it(std::uint64_t seed) const {
    Nccl nccl;
    nccl.devices = devices_per_node;
    nccl.cards = cards();
    const Fabric between = wires(fabric_nodes, seed);
    Bandwidth slowest = unlimited;
    for (std::size_t link = 0; link < between.links.size(); ++link)
        if (between.label(static_cast<LinkId>(link)).role == LinkRole::node)
            slowest = std::min(slowest, between.links[link].capacity());
    nccl.between.bits_per_second =
        std::min(slowest.bits_per_second, unlimited.bits_per_second / nccl.cards) * nccl.cards;
    if (!bus) return nccl;
    constexpr Bandwidth fastest_pcie{256'000'000'000};  // PCIe 4.0, 16 lanes
    const int lanes = bus->kind == BusKind::direct ? 1 : 2;
    nccl.inside = bus->lane.capacity();
    nccl.inside_latency = multiple(lanes, bus->lane.latency);
    nccl.over_nvlink = nccl.inside > fastest_pcie;
    nccl.over_switch = bus->kind == BusKind::switched;
    return nccl;
}

std::optional<IdleNetwork> ClusterChoice::as_idle_network() const {
    if (!class_speeds.empty()) return std::nullopt;
    return idle_network_of_classes();
}

std::optional<IdleNetwork> ClusterChoice::idle_network_of_classes() const {
    const ComputeParts parts = deviations(0);
    const bool deviates = !parts.steps.empty() || !parts.phases.empty();
    if (deviates || failures || !access.empty() || !background.empty()) return std::nullopt;
    return undisturbed_network();
}

std::optional<IdleNetwork> ClusterChoice::undisturbed_network() const {
    if (!fabric.as_idle_star || !uneven.empty() || transport().costs_hosts()) return std::nullopt;
    if (library.protocol != Protocol::rendezvous) return std::nullopt;
    IdleStar star = *fabric.as_idle_star;
    star.start_up = library.start_up;
    if (tcp) {
        if (!fabric.states_efficiency)
            star.bandwidth = tcp->goodput_of(star.bandwidth) * star.bandwidth;
        star.bandwidth = std::max(tcp->duplex_share * star.bandwidth, Bandwidth{1});
        if (tcp->host_rate) star.bandwidth = std::min(star.bandwidth, *tcp->host_rate);
    }
    // If loss limits each flow rather than the link, several flows together exceed one flow's rate.
    if (loss_bound(fabric.idle_star_loss, multiple(2, star.latency)) < star.bandwidth)
        return std::nullopt;
    if (!bus) return IdleNetwork{with_limited_flows(star), {}, 1, library.staging, 1, library.sums};
    const bool ideal =
        fabric.idle_star_loss == 0 && bus->lane.loss == 0 && bus->lane.jitter == LinkJitter{};
    if (bus->kind != BusKind::switched || !ideal) return std::nullopt;
    const IdleStar inside{bus->lane.capacity(), sum(bus->lane.latency, bus->lane.latency),
                          library.start_up};
    star.latency = sum(star.latency, inside.latency);
    return IdleNetwork{with_limited_flows(star), inside,  devices_per_node,
                       library.staging,          cards(), library.sums};
}

}  // namespace paceline
