#include "app/run/memory_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/run/step_costs.hpp"

namespace paceline {

std::vector<std::pair<std::string_view, Bytes>> memory_parts(const Scenario& scenario) {
    const std::optional<KeptBytes> kept = kept_on_device(scenario);
    if (!kept) return {};
    std::vector<std::pair<std::string_view, Bytes>> parts;
    for (const auto& [name, bytes] :
         {std::pair<std::string_view, Bytes>{"parameters", kept->parameters},
          {"gradients", kept->gradients},
          {"optimizer", kept->optimizer},
          {"buffers", kept->buffers},
          {"activations", activations_on_device(scenario).value_or(Bytes{})}})
        if (bytes.count > 0) parts.emplace_back(name, bytes);
    return parts;
}

std::string memory_parts_text(const Scenario& scenario) {
    std::vector<std::string> texts;
    for (const auto& [name, bytes] : memory_parts(scenario))
        texts.push_back(fmt::format("{:.3g} {}", static_cast<double>(bytes.count) * 1e-9, name));
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace paceline
