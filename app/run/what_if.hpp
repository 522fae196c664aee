// Derives scenarios that differ from a given one in one respect: what if the links were twice as
// fast, or no node ever slow?
//
// These are plain functions from scenario to scenario. Each changes what its name says and keeps
// everything else, including the seed, so that two runs get the same random numbers wherever both
// draw them. Links are changed when the fabric is made, together with closed forms and the traces
// of access links. "Network" means the links between machines; a machine's bus is separate. If
// there is nothing to change, the scenario is returned as it was.
#pragma once

#include <optional>

#include "app/scenario/scenario.hpp"

namespace paceline {

// --- scaling a resource ---

/// Multiplies the bandwidth of all network links, including what a radio cell or a trunk shares,
/// but not background traffic. Requires factor > 0.
Scenario with_bandwidth_times(Scenario scenario, double factor);
/// Multiplies the latency of the same links. Requires factor >= 0.
Scenario with_latency_times(Scenario scenario, double factor);
/// Lets each message over TCP cost its sender so long, if the scenario states no cost of messages.
Scenario with_message_cost(Scenario scenario, Duration cost);
/// Bounds each connection of TCP, if the scenario states no bound.
Scenario with_flow_rate(Scenario scenario, Bandwidth rate);
/// Multiplies the time of gradients and updates. What an algorithm computes beyond that (selection,
/// coding) stays the same. Requires factor >= 0.
Scenario with_compute_times(Scenario scenario, double factor);

// --- removing an obstacle ---

/// Removes other jobs and background traffic.
Scenario without_other_traffic(Scenario scenario);
Scenario without_failures(Scenario scenario);
/// Removes stragglers, speeds and jitter of gradients: every node is the workload's own device.
Scenario with_nodes_alike(Scenario scenario);
/// Removes jitter, loss, changes and outages of all links.
Scenario with_steady_links(Scenario scenario);
/// Removes the overhead of messages, slow start, and the bounds of flows and hosts.
Scenario without_protocol_costs(Scenario scenario);
/// Removes what the communication library adds to collectives.
Scenario without_library(Scenario scenario);
/// Removes the latency of the network and of buses.
Scenario without_latency(Scenario scenario);

/// Links that are made infinitely fast.
enum class Unlimited : std::uint8_t {
    core,             // links that belong to no single node: trunks, radio cells
    all_but_servers,  // all but the cables of servers on machines of their own
    network,          // all links between machines
    buses,
};
Scenario with_unlimited(Scenario scenario, Unlimited what);

/// Removes values: nothing is trained, and timing follows the declared laws.
Scenario on_the_clock_alone(Scenario scenario);

// --- whole periods ---

/// Returns the steps at which the period is over that the scenario's last step falls into; nothing
/// if it ends one, if workers take unequal numbers of steps, or if that would take more than
/// `most_steps_added` steps more. Rates are then those of at least one period.
inline constexpr std::int64_t most_steps_added = 10'000;
[[nodiscard]] std::optional<std::int64_t> steps_to_end_period(const Scenario& scenario);

// --- testing for an obstacle ---

[[nodiscard]] bool has_other_traffic(const Scenario& scenario);
[[nodiscard]] bool has_unlike_nodes(const Scenario& scenario);
[[nodiscard]] bool has_unsteady_links(const Scenario& scenario);
[[nodiscard]] bool has_protocol_costs(const Scenario& scenario);
bool has_library(const Scenario& scenario);
[[nodiscard]] bool has_core(const Scenario& scenario);
/// Returns whether anything is sent.
bool has_network(const Scenario& scenario);

/// Returns the fabric as a star, even if it is not one: the nodes' own links, if they are all
/// alike, and the longest route between two workers.
[[nodiscard]] std::optional<IdleStar> as_star(const Scenario& scenario);
/// Returns the scenario with closed forms that treat it as such a star; empty if there is none.
[[nodiscard]] std::optional<Scenario> with_star_forms(Scenario scenario);

}  // namespace paceline
