// How busy the links of a run are: each of them, and all with the same role.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/measures/link_use.hpp"
#include "analysis/measures/metrics.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

struct LinkLoad {
    LinkId number = 0;  // number in the fabric
    std::string name;
    double busy = 0;  // share of the run's time in which it carries traffic
    double used = 0;  // share of what it could have carried in the whole run
    double bytes_per_step = 0;
    std::vector<std::pair<std::string, double>> by_job{};  // shares of the bytes, if several send
};

/// All links with the same role.
struct LinkKind {
    std::string kind;
    std::size_t links = 0;
    double mean_busy = 0;
    double mean_used = 0;
    LinkLoad busiest;  // the most used of them; the first one on a tie
};

struct LinkLoads {
    std::vector<LinkKind> kinds;        // in the fabric's order; only kinds that carried traffic
    std::vector<LinkLoad> most_loaded;  // single links, most used first
};

/// Returns none if the run took no time.
LinkLoads link_loads(const Scenario& scenario, const Metrics& run, const LinkUse& use);

}  // namespace paceline
