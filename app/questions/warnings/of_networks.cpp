#include "app/questions/warnings/of_networks.hpp"

namespace paceline {

std::string depends_on_drawn_routes(const Scenario& scenario) {
    if (!scenario.cluster.fabric.draws_routes || scenario.cluster.nodes < 2) return "";
    return "the seed draws which of the equally short routes a message takes, and times depend on "
           "that draw; sweep \"seed\" to see how much";
}

}  // namespace paceline
