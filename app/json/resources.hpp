// Files of the source tree that are embedded in the program, so that it runs from any folder:
// profiles, presets and the schema.
#pragma once

#include <span>
#include <string_view>

namespace paceline {

struct EmbeddedFile {
    std::string_view name;  // path from the root of the source tree
    std::string_view text;
};

/// Returns all of them, ordered by name.
std::span<const EmbeddedFile> resources();

/// Returns the text of one. Requires that it exists.
std::string_view resource(std::string_view name);

}  // namespace paceline
