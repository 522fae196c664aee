#include "app/run/trace_machine.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace paceline {

namespace {

std::string name_of(const HostRole& role, const std::map<int, int>& first_server) {
    if (role.kind == HostRole::Kind::background)
        return fmt::format("background {} {}", role.job, role.rank == 0 ? "sender" : "receiver");
    const std::string job = role.job_name.empty() ? "" : role.job_name + " ";
    return role.kind == HostRole::Kind::server
               ? fmt::format("{}server {}", job, role.node - first_server.at(role.job))
               : fmt::format("{}node {}", job, role.node);
}

}  // namespace

TraceMachine trace_machine(const Machine& machine, const std::optional<std::set<int>>& nodes) {
    TraceMachine made{&machine.simulation, &machine.network, {}, {}, machine.link_name};
    std::map<std::tuple<bool, int, int>, int> known;  // background, job, node
    std::map<int, int> first_server;                  // by job
    for (const HostRole& role : machine.hosts) {
        TraceHost& host = made.hosts.emplace_back();
        if (role.kind == HostRole::Kind::nobody) continue;
        const bool background = role.kind == HostRole::Kind::background;
        if (role.kind == HostRole::Kind::server) first_server.try_emplace(role.job, role.node);
        const auto [found, is_new] = known.try_emplace({background, role.job, role.node},
                                                       static_cast<int>(made.processes.size()));
        if (is_new) {
            const bool main = !background && role.job == 0;
            TraceProcess& process = made.processes.emplace_back();
            process.name = name_of(role, first_server);
            process.chosen = !nodes || (main && nodes->contains(role.node));
            process.of_main_job = main;
            process.job = background ? -1 - role.job : role.job;
        }
        host = {found->second, role.device, role.kind == HostRole::Kind::worker};
        int& devices = made.processes[static_cast<std::size_t>(found->second)].devices;
        devices = std::max(devices, role.device + 1);
    }
    return made;
}

}  // namespace paceline
