#include "app/questions/warnings/of_memory.hpp"

#include <fmt/format.h>

#include "app/run/memory_parts.hpp"
#include "app/run/step_costs.hpp"

namespace paceline {

std::string beyond_memory(const Scenario& scenario) {
    const std::optional<Bytes> device = memory_of_device(scenario);
    const std::optional<Bytes> memory = device_memory(scenario);
    if (!device || !memory || memory->count <= device->count) return "";
    const std::string rest =
        activations_on_device(scenario)
            ? ""
            : "; activations are not included (set \"workload.recompute\" to count them)";
    return fmt::format("does not fit: a device{} of {:.4g} GB would hold {:.4g} GB, {}{}",
                       device_of_class(scenario), static_cast<double>(device->count) * 1e-9,
                       static_cast<double>(memory->count) * 1e-9, memory_parts_text(scenario),
                       rest);
}

}  // namespace paceline
