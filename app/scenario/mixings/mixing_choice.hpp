// A mixing that has been read: who averages with whom in each step, and what is known of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

struct MixingChoice {
    std::function<MixingSchedule(std::uint64_t seed)> make;  // empty: the algorithm has none
    std::string name;                                        // such as "torus, lazy"
    std::string json;                                        // as it is in the scenario
    int degree = 0;                // how many others a worker sends to at once, on average, at most
    bool meets_everybody = false;  // over time, every worker meets every other
    bool may_have_parts = false;   // edges of one's own need not connect all workers
};

}  // namespace paceline
