// Where the code of this build is: the program, or a shared library such as the Python module; and
// where the files are that come with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// Returns the file that this very code was loaded from, as an absolute path.
std::filesystem::path program_file();

/// Returns the hash of that file's contents that the linker has stored in it (its build ID), as hex
/// digits; nothing if there is none.
std::optional<std::string> build_id();

/// A folder of files that come with the program.
struct ShippedFolder {
    std::string_view name;         // in P/share/paceline, or beside the Python module
    std::string_view source_name;  // in the source tree
    std::string_view file;         // that it has if it is whole
};

inline constexpr ShippedFolder plot_scripts{"plots", "analysis/plots", "__main__.py"};
inline constexpr ShippedFolder explorer_page{"explorer", "build/explorer", "index.html"};

/// Returns where this folder is, for code that was loaded from `program`; nothing if there is none.
std::optional<std::filesystem::path> find_shipped(const ShippedFolder& folder,
                                                  const std::filesystem::path& program);
/// Returns where an installation has this folder, whether it is there or not.
std::filesystem::path installed_place(const ShippedFolder& folder,
                                      const std::filesystem::path& program);

}  // namespace paceline
