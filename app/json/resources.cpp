#include "app/json/resources.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace paceline {

std::string_view resource(std::string_view name) {
    const std::span<const EmbeddedFile> all = resources();
    const auto found = std::ranges::find(all, name, &EmbeddedFile::name);
    PACELINE_CHECK(found != all.end(), "a resource is named as in the source tree");
    return found->text;
}

}  // namespace paceline
