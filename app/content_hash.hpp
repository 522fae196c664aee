// Names for contents: 128 bits of XXH3, as 32 hex digits. Equal contents have equal names; that two
// different ones share a name by chance is out of the question, by intent it is not.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

std::string content_hash(std::string_view content);

/// Of a file, read piece by piece; of one that cannot be read, as of an empty one.
std::string content_hash_of(const std::filesystem::path& file);

}  // namespace paceline
