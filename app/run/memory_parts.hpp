// What takes the memory of a device, for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns the parts that a device keeps, with their bytes: parameters, gradients, optimizer,
/// buffers, activations. A part that is not known or not there is left out. Empty where the
/// algorithm does not say what it keeps.
std::vector<std::pair<std::string_view, Bytes>> memory_parts(const Scenario& scenario);

/// Returns them in one line, in GB: "2.6 parameters, 2.6 gradients, 15.7 optimizer".
std::string memory_parts_text(const Scenario& scenario);

}  // namespace paceline
