// Files that are whole or not there: written under another name, flushed to the disk, then renamed.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace paceline {

/// A file or folder that cannot be written, and why.
struct OutputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Makes the folder if need be, and tries that a file can be written there. Throws OutputError.
void prepare_folder(const std::filesystem::path& folder);

/// Replaces the file by `text`, or leaves it as it was and throws OutputError.
void write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace paceline
