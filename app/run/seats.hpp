// Which process of a run sits on which host of the fabric, and what follows: the wires of all of
// them, the main job's own links, and the roles that an observer is told.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/run/run_observer.hpp"
#include "app/scenario/scenario.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/network.hpp"

namespace paceline {

/// The machines of the main job, then those of each other job, each job followed by its servers,
/// then two for each source of background traffic.
struct Seats {
    Seating seating;
    std::vector<int> first_host;  // of each job
};

Seats take_seats(const Scenario& scenario);

/// Returns the wires of a run with all of their users. Links are numbered as an observer sees them.
Fabric fabric_of(const Scenario& scenario, const Seats& seats);
Fabric fabric_of(const Scenario& scenario);

/// Returns the links of the main job's nodes that change; none if none do.
std::vector<Access> own_links(const Scenario& scenario, const Fabric& fabric, const Seats& seats);

using LinkNames = std::function<std::string(LinkId link)>;
LinkNames link_names(const Scenario& scenario, const Fabric& fabric);

Machine machine_of(const Scenario& scenario, const Network& network, const Seats& seats,
                   LinkNames names);

}  // namespace paceline
