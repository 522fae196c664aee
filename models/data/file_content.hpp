// The content of a data file, up to a size limit, inflated if it is a gzip file. Whoever opens files
// passes their content in; nothing here touches a file.
//
// No claim inside a file decides how much memory is taken: a gzip file is inflated piece by piece
// until it ends or exceeds the limit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline {

/// Limit of a file's length and of its inflated length.
constexpr std::uint64_t most_content = std::uint64_t{1} << 30;

struct FileContent {
    std::string name;  // for errors
    std::vector<unsigned char> bytes;
};

/// Throws DataError if a file of this length is too long to be read.
void check_length(const std::string& name, std::uint64_t length,
                  std::uint64_t limit = most_content);

/// Returns the content as it is, or inflated if it is that of a gzip file; its name then says so.
/// Gzip files are recognized by their first two bytes and may have several members. Throws
/// DataError if a length exceeds the limit, or if a gzip file is damaged, truncated or followed by
/// other data.
FileContent inflated(FileContent content, std::uint64_t limit = most_content);

}  // namespace paceline
