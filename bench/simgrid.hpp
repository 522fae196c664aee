// What the SimGrid sides of benchmarks on a fabric share: its settings and its network.
//
// CM02 without cross-traffic is fluid max-min sharing and nothing else. Two differences remain: a
// message flows only after its latency (ours flows at once), and its sender is free one latency
// later. Equal latencies keep SimGrid's shares even (it weighs a flow by 1 / latency). With latency
// 0 the simulated times agree.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include "sim/network/fabric.hpp"

namespace paceline {

namespace s4u = simgrid::s4u;

inline constexpr auto simgrid_settings = std::to_array<const char*>({
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:1e30",
    "network/optim:Lazy",
    "contexts/factory:raw",
    "contexts/nthreads:1",
    "contexts/stack-size:64",
    "contexts/guard-size:1",
});

/// Call before an engine is made: no log line for each setting.
inline void be_quiet() {
    xbt_log_control_set("xbt_cfg.thres:warning");
}

inline void apply_simgrid_settings() {
    for (const char* const setting : simgrid_settings) s4u::Engine::set_config(setting);
}

/// Builds the fabric link by link. Each host gets a route to each host in its list, the one that
/// the fabric gives it.
inline std::vector<s4u::Host*> build_simgrid(const Fabric& fabric,
                                             const std::vector<std::vector<int>>& destinations) {
    s4u::NetZone* const zone = s4u::create_full_zone("fabric");
    std::vector<s4u::Link*> links;
    for (const Link& link : fabric.links) {
        const double bytes_per_second = static_cast<double>(link.capacity().bits_per_second) / 8;
        links.push_back(
            zone->create_link("link_" + std::to_string(links.size()), bytes_per_second));
        links.back()->set_latency(to_seconds(link.latency))->seal();
    }
    std::vector<s4u::Host*> hosts;
    for (int host = 0; host < fabric.hosts; ++host) {
        hosts.push_back(zone->create_host("host_" + std::to_string(host), 1e9));
        hosts.back()->seal();
    }
    Route route;
    for (int from = 0; from < fabric.hosts; ++from)
        for (const int to : destinations[static_cast<std::size_t>(from)]) {
            fabric.find_route(from, to, route);
            std::vector<s4u::LinkInRoute> way;
            for (const LinkId link : route) way.emplace_back(links[link]);
            zone->add_route(hosts[static_cast<std::size_t>(from)]->get_netpoint(),
                            hosts[static_cast<std::size_t>(to)]->get_netpoint(), nullptr, nullptr,
                            way, false);
        }
    zone->seal();
    return hosts;
}

}  // namespace paceline
