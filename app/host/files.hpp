// The files of this machine: the source of what a scenario names (app/json/sources.hpp), for the
// command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/json/sources.hpp"
#include "models/data/files/file_content.hpp"

namespace paceline {

/// Returns the content of a text file. Throws a ConfigError that names the file if it cannot be
/// read or has more than max_file_size bytes.
std::string read_text(const std::string& file);

/// Returns the content of a data file. Throws DataError if there is no such regular file, if it
/// cannot be read, or if it exceeds the limit, which is checked before anything is allocated.
std::vector<unsigned char> read_bytes(const std::string& file, std::uint64_t limit = most_content);

/// Returns at most `most` bytes of a regular file, beginning with byte `from`; nothing if there is
/// no file of this name. A link is not followed and a FIFO is not waited for: throws UnusableFile
/// if the name is of something else than a regular file, or cannot be read.
std::optional<std::string> read_own_file(const std::filesystem::path& file, std::size_t most,
                                         std::size_t from = 0);

struct UnusableFile : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns the files and the available memory of this machine.
Sources files_of_this_machine();

}  // namespace paceline
