#include "models/data/files/file_content.hpp"

#include <utility>

#include <fmt/format.h>

#include "models/data/files/data_error.hpp"
#include "models/data/files/gzip.hpp"

namespace paceline {

void check_length(const std::string& name, std::uint64_t length, std::uint64_t limit) {
    if (length > limit)
        throw DataError(name, limit,
                        fmt::format("the file has {} bytes; at most {} are read", length, limit));
}

FileContent inflated(FileContent content, std::uint64_t limit) {
    const std::vector<unsigned char>& bytes = content.bytes;
    check_length(content.name, bytes.size(), limit);
    if (bytes.size() < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b) return content;
    content.bytes = inflate_gzip(content.name, std::move(content.bytes), limit);
    content.name += " (inflated)";
    return content;
}

bool has_mark_of_utf16(std::string_view text) {
    return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ||
           text.starts_with(std::string_view("\0\0\xFE\xFF", 4));
}

std::string_view text_of(const FileContent& content) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::string_view text(reinterpret_cast<const char*>(content.bytes.data()),
                          content.bytes.size());
    if (has_mark_of_utf16(text)) throw DataError(content.name, 0, std::string(not_utf8));
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    return text;
}

}  // namespace paceline
