// Plugins: shared libraries that come with the program and load only when they are needed, because
// the libraries that they need are large, or not there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace paceline {

/// Returns the file of a plugin: in ../lib/paceline of an installation, or beside the program.
std::optional<std::filesystem::path> plugin_file(const std::string& name);

struct Plugin {
    void* function = nullptr;
    std::string fault;  // if there is no function
};

/// Loads a plugin, for as long as the program runs, and returns one of its functions.
Plugin load_plugin(const std::string& name, const char* function);

}  // namespace paceline
