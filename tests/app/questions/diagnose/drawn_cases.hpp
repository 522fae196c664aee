// Clusters with one cause each, drawn and simulated without the code that diagnoses them.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "app/json/json_file.hpp"

namespace paceline::diagnose_test {

/// A scenario as its user believes it to be, and as it is.
struct DrawnCase {
    std::string cause;  // by the key of causes.cpp
    std::shared_ptr<const Json> believed;
    std::shared_ptr<const Json> true_cluster;  // with the cause, on all of its nodes
    std::shared_ptr<const Json> alone;         // on one node, which is not the slow one
    std::shared_ptr<const Json> slowest_alone;
};

/// Draws a case with this cause: the step time or the samples per second of all nodes are off by
/// 20 % or more because of it.
DrawnCase drawn_case(const std::string& cause, std::mt19937_64& rng);

/// Returns the causes that cases have.
const std::vector<std::string>& drawn_causes();

/// Returns the number that a diagnosis asks for ("nodes=1:step"), as this case gives it:
/// "nodes=1:step=0.5203".
std::string measured_as_asked(const DrawnCase& drawn, const std::string& asked,
                              std::mt19937_64& rng);

}  // namespace paceline::diagnose_test
