// Files that are whole or not there: written under another name, flushed to the disk, then renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace paceline {

/// A file or folder that cannot be written, and why.
struct OutputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Makes the folder if need be, and tries that a file can be written there. Throws OutputError.
void prepare_folder(const std::filesystem::path& folder);

/// Whether a file is brought to the disk before it has its name. One that is not may be empty or
/// cut after a power cut, and is for readers that notice.
enum class Flush : std::uint8_t { no, yes };

/// Replaces the file by `text`, or leaves it as it was and throws OutputError.
void write_file(const std::filesystem::path& file, std::string_view text, Flush flush = Flush::yes);

/// The same of a long text that comes in pieces: `write` is called with where they go. It is not
/// brought to the disk first.
void write_file_in_pieces(
    const std::filesystem::path& file,
    const std::function<void(const std::function<void(std::string_view piece)>& sink)>& write);

}  // namespace paceline
