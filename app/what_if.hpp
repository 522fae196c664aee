// Scenarios that differ from a given one in one respect: what if the links were twice as fast, or no
// node ever slow?
//
// Plain functions from scenario to scenario. Each changes what its name says and keeps everything
// else, the seed included, so that two runs meet the same random numbers wherever both draw them.
// Links are changed as the fabric is made, closed forms and the traces of access links with them;
// "network" are the links between machines, a machine's bus is told apart. Where nothing is to be
// changed the scenario comes back as it was.
#pragma once

#include <optional>

#include "app/scenario.hpp"

namespace paceline {

// --- how much of what there is ---

/// Of all network links. What a radio cell or a trunk shares is multiplied, too; background traffic
/// is not. Requires factor > 0.
Scenario with_bandwidth_times(Scenario scenario, double factor);
/// The same of their latencies. Requires factor >= 0.
Scenario with_latency_times(Scenario scenario, double factor);
/// The time of gradients and updates; what an algorithm computes beyond that (selection, coding)
/// stays. Requires factor >= 0.
Scenario with_compute_times(Scenario scenario, double factor);

// --- without something that stands in the way ---

/// No other jobs and no background traffic.
Scenario without_other_traffic(Scenario scenario);
Scenario without_failures(Scenario scenario);
/// No stragglers, no speeds, no jitter of gradients: every node is the workload's own device.
Scenario with_nodes_alike(Scenario scenario);
/// No link jitters, loses, changes or is down.
Scenario with_steady_links(Scenario scenario);
/// No overhead of messages and no slow start.
Scenario without_protocol_costs(Scenario scenario);
/// Of the network and of buses.
Scenario without_latency(Scenario scenario);

/// Links that a message passes at once.
enum class Unlimited : std::uint8_t {
    core,             // those that are no node's own: trunks, radio cells
    all_but_servers,  // all but the cables of servers on machines of their own
    network,          // all between machines
    buses,
};
Scenario with_unlimited(Scenario scenario, Unlimited what);

/// Without values: nothing is trained, and the clock goes by the declared laws.
Scenario on_the_clock_alone(Scenario scenario);

// --- whether there is such a thing ---

[[nodiscard]] bool has_other_traffic(const Scenario& scenario);
[[nodiscard]] bool has_unlike_nodes(const Scenario& scenario);
[[nodiscard]] bool has_unsteady_links(const Scenario& scenario);
[[nodiscard]] bool has_protocol_costs(const Scenario& scenario);
[[nodiscard]] bool has_core(const Scenario& scenario);

/// The fabric as a star, whether it is one or not: the nodes' own links, if they are all alike, and
/// the longest way between two workers.
[[nodiscard]] std::optional<IdleStar> as_star(const Scenario& scenario);
/// The same scenario, taken for such a star by its closed forms. Empty where it is none.
[[nodiscard]] std::optional<Scenario> with_star_forms(Scenario scenario);

}  // namespace paceline
