// The content of a data file, up to a size limit, inflated if it is a gzip file. Whoever opens
// files passes their content in; nothing here touches a file.
//
// No claim inside a file decides how much memory is taken: a gzip file is inflated piece by piece
// until it ends or exceeds the limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

constexpr std::string_view not_utf8 = "the file is UTF-16 or UTF-32; save it as UTF-8";

/// Returns whether a text begins with a byte-order mark of UTF-16 or UTF-32.
[[nodiscard]] bool has_mark_of_utf16(std::string_view text);

/// Returns a content that is text, as a view of its bytes behind a byte-order mark. Throws
/// DataError if it is not UTF-8 by its mark.
std::string_view text_of(const FileContent& content);

}  // namespace paceline
