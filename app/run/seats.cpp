#include "app/run/seats.hpp"

#include <utility>

#include "app/run/link_names.hpp"

namespace paceline {

namespace {

// Adds the workers and servers of a job, starting at its first host.
void add_roles(std::vector<HostRole>& hosts, int first, int number, const Scenario& job) {
    const MachineSizes& machines = job.cluster.sizes;
    const int workers = job.cluster.workers;
    for (int rank = 0; rank < workers + job.algorithm.server_nodes; ++rank) {
        const bool works = rank < workers;
        hosts[static_cast<std::size_t>(first + rank)] = {
            .kind = works ? HostRole::Kind::worker : HostRole::Kind::server,
            .job = number,
            .job_name = number == 0 ? "" : job.job,
            .rank = rank,
            .node = works ? machines.machine_of(rank) : job.cluster.nodes + rank - workers,
            .device = works ? machines.place_of(rank) : 0};
    }
}

}  // namespace

Seats take_seats(const Scenario& scenario) {
    Seats seats;
    std::vector<int>& nodes = seats.seating.nodes;
    const auto begin = [&] {
        seats.first_host.push_back(static_cast<int>(nodes.size()) *
                                   scenario.cluster.devices_per_node);
    };
    const auto seat = [&](const Scenario& job) {
        begin();
        const std::vector<int>& placement = job.cluster.placement;
        for (int i = 0; i < job.cluster.nodes; ++i)
            nodes.push_back(placement.empty() ? i : placement[static_cast<std::size_t>(i)]);
        for (int i = 0; i < job.algorithm.server_nodes; ++i)
            nodes.push_back(scenario.cluster.fabric_nodes + seats.seating.servers++);
    };
    seat(scenario);
    for (const Scenario& job : scenario.other_jobs) seat(job);
    for (const Background& background : scenario.cluster.background) {
        begin();
        nodes.insert(nodes.end(), {background.from, background.to});
    }
    return seats;
}

Fabric fabric_of(const Scenario& scenario, const Seats& seats) {
    if (scenario.shares_network())
        return scenario.cluster.make_fabric(seats.seating, scenario.seed);
    return scenario.cluster.make_fabric(scenario.algorithm.server_nodes, scenario.seed);
}

Fabric fabric_of(const Scenario& scenario) {
    return fabric_of(scenario, take_seats(scenario));
}

std::vector<Access> own_links(const Scenario& scenario, const Fabric& fabric, const Seats& seats) {
    const ClusterChoice& choice = scenario.cluster;
    if (choice.access.empty()) return {};
    if (!scenario.shares_network()) return accesses_of(fabric, choice.nodes);
    return accesses_of(fabric, choice.nodes, seats.seating.nodes);
}

LinkNames link_names(const Scenario& scenario, const Fabric& fabric) {
    return [label = fabric.label, nodes = scenario.cluster.fabric_nodes](LinkId link) {
        return name_of_link(label(link), nodes);
    };
}

Machine machine_of(const Scenario& scenario, const Network& network, const Seats& seats,
                   LinkNames names) {
    std::vector<HostRole> hosts(static_cast<std::size_t>(network.hosts()));
    std::size_t seat = 0;
    int number = 0;
    add_roles(hosts, seats.first_host[seat++], number++, scenario);
    for (const Scenario& job : scenario.other_jobs)
        add_roles(hosts, seats.first_host[seat++], number++, job);
    for (int i = 0; std::cmp_less(i, scenario.cluster.background.size()); ++i) {
        const int first = seats.first_host[seat++];
        for (const int end : {0, 1})
            hosts[static_cast<std::size_t>(first + end * scenario.cluster.devices_per_node)] = {
                .kind = HostRole::Kind::background, .job = i, .rank = end, .node = end};
    }
    return {network.simulation(), network, std::move(hosts), std::move(names)};
}

}  // namespace paceline
