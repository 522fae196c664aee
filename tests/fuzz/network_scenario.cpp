#include "tests/fuzz/network_scenario.hpp"

#include <nlohmann/json.hpp>

#include "tests/fuzz/failing_scenario.hpp"
#include "tests/fuzz/random_scenario.hpp"

namespace paceline {

Json network_scenario(std::uint64_t seed) {
    return seed % 2 == 0 ? random_scenario(seed, Emphasis::network)
                         : failing_scenario(seed, Emphasis::network);
}

}  // namespace paceline
