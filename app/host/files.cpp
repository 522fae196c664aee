#include "app/host/files.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "app/host/available_memory.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "models/data/data_error.hpp"

namespace paceline {

namespace fs = std::filesystem;

std::string read_text(const std::string& file) {
    std::error_code error;
    if (fs::is_directory(file, error)) throw ConfigError(file, "", "is a directory; name a file");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw ConfigError(file, "", fmt::format("cannot be read: {}", std::strerror(errno)));
    std::string text;
    for (std::array<char, 16384> piece{}; in && text.size() <= max_file_size;) {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) throw ConfigError(file, "", "cannot be read to its end");
    check_file_size(text.size(), file);
    return text;
}

std::vector<unsigned char> read_bytes(const std::string& file, std::uint64_t limit) {
    std::error_code error;
    if (!fs::is_regular_file(file, error))
        throw DataError(file, 0, "there is no such regular file");
    const std::uintmax_t length = fs::file_size(file, error);
    if (error) throw DataError(file, 0, fmt::format("cannot be read: {}", error.message()));
    check_length(file, length, limit);
    std::ifstream in(file, std::ios::binary);
    if (!in) throw DataError(file, 0, "cannot be opened for reading");
    std::vector<unsigned char> bytes(length);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
    const auto got = static_cast<std::uint64_t>(in.gcount());
    if (got != length)
        throw DataError(file, got, fmt::format("reading ended here, of {} bytes", length));
    return bytes;
}

Sources files_of_this_machine() {
    return {.text = &read_text,
            .data = [](const std::string& file) { return read_bytes(file); },
            .available_memory = &available_memory};
}

}  // namespace paceline
