// The contents of data files, byte by byte, and what readers say about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <zlib.h>

#include "models/data/files/data_error.hpp"
#include "models/data/files/file_content.hpp"

namespace paceline {

inline std::string big_endian(std::uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes +=
            static_cast<char>(static_cast<unsigned char>(number >> static_cast<unsigned>(shift)));
    return bytes;
}

/// Returns varied bytes; the same seed gives the same bytes.
inline std::string some_bytes(std::size_t count, std::uint32_t seed) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
        seed = seed * 1664525 + 1013904223;
        bytes += static_cast<char>(static_cast<unsigned char>(seed >> 24));
    }
    return bytes;
}

inline std::string gzip(std::string_view content) {
    z_stream stream{};
    std::string input(content);
    if (deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("zlib");
    std::string compressed(deflateBound(&stream, input.size()), '\0');
    stream.next_in = reinterpret_cast<unsigned char*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<unsigned char*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("zlib");
    compressed.resize(stream.total_out);
    deflateEnd(&stream);
    return compressed;
}

/// The content of a file of these bytes, as readers take it.
inline FileContent file_of(std::string_view bytes) {
    return inflated({"file", {bytes.begin(), bytes.end()}});
}

/// Returns "byte <offset>: <problem>" of the DataError that `read` throws, or "nothing".
template <class Read>
std::string refusal(const Read& read) {
    try {
        read();
    } catch (const DataError& error) {
        return "byte " + std::to_string(error.offset()) + ": " + error.problem();
    }
    return "nothing";
}

}  // namespace paceline
