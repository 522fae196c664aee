#include "app/json/own_parts.hpp"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

std::optional<Place> own_kind_of(const Place& object) {
    if (!object.json->is_object()) return std::nullopt;
    const auto found = object.json->find("kind");
    if (found == object.json->end() || !found->is_string()) return std::nullopt;
    Place kind = object.child("kind", *found);
    if (as_string(kind).find(':') == std::string::npos) return std::nullopt;
    return kind;
}

void refuse_own_part(const Place& kind, std::string_view what) {
    kind.refuse(fmt::format(
        "\"{}\" is {} in Python, which runs in Python alone: python3 -m paceline run, or "
        "paceline.run (docs/how-to/your-own-method.md)",
        as_string(kind), what));
}

}  // namespace paceline
