// Inflates the content of a gzip file with zlib, piece by piece.
//
// A build for WebAssembly has no zlib (gzip_elsewhere.cpp): there whoever passes data in inflates
// it, and a content that is still compressed is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline {

/// Returns what all members of a gzip file hold. `file` is its name for errors. Throws DataError if
/// that is more than `limit` bytes, or if the content is damaged or truncated.
std::vector<unsigned char> inflate_gzip(const std::string& file,
                                        std::vector<unsigned char> compressed, std::uint64_t limit);

}  // namespace paceline
