// Names for contents: 128 bits of XXH3, as 32 hex digits. Equal contents have equal names. An
// accidental collision is practically impossible, but the hash does not protect against deliberate
// ones.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

std::string content_hash(std::string_view content);

/// Returns the hash of a file, which is read piece by piece. A file that cannot be read counts as
/// empty.
std::string content_hash_of(const std::filesystem::path& file);

}  // namespace paceline
