// What a file of data holds, inflated if it is a gzip file, and never more than a limit of it.
//
// No claim inside a file decides how much memory is taken: a plain file is as long as its file
// system says, and a gzip file is inflated piece by piece until it ends or passes the limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace paceline {

/// Of a file's length and of what it inflates to.
constexpr std::uint64_t most_content = std::uint64_t{1} << 30;

struct FileContent {
    std::string name;  // for errors
    std::vector<unsigned char> bytes;
};

/// Gzip files are known by their first two bytes and may have several members. Throws DataError if
/// there is no such regular file, it cannot be read, it is longer than the limit, or it is a gzip
/// file that is damaged, cut off or followed by something else.
FileContent read_content(const std::filesystem::path& path, std::uint64_t limit = most_content);

}  // namespace paceline
