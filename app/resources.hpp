// Files of the source tree that are part of the program, so that it runs from any folder: profiles,
// presets, the schema.
#pragma once

#include <span>
#include <string_view>

namespace paceline {

struct Resource {
    std::string_view name;  // path from the root of the source tree
    std::string_view text;
};

/// All of them, by name.
std::span<const Resource> resources();

/// Requires that it exists.
std::string_view resource(std::string_view name);

}  // namespace paceline
