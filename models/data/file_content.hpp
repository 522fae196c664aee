// Reads a data file, up to a size limit, and inflates it if it is a gzip file.
//
// No claim inside a file decides how much memory is taken: the size of a plain file comes from the
// file system, and a gzip file is inflated piece by piece until it ends or exceeds the limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace paceline {

/// Limit of a file's length and of its inflated length.
constexpr std::uint64_t most_content = std::uint64_t{1} << 30;

struct FileContent {
    std::string name;  // for errors
    std::vector<unsigned char> bytes;
};

/// Gzip files are recognized by their first two bytes and may have several members. Throws
/// DataError if there is no such regular file, if it cannot be read or exceeds the limit, or if it
/// is a gzip file that is damaged, truncated or followed by other data.
FileContent read_content(const std::filesystem::path& path, std::uint64_t limit = most_content);

}  // namespace paceline
