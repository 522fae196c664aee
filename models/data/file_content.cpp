#include "models/data/file_content.hpp"

#include <utility>

#include <fmt/format.h>

#include "models/data/data_error.hpp"
#include "models/data/gzip.hpp"

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

}  // namespace paceline
