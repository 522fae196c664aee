#include "app/host/plugin.hpp"

#include <system_error>

#include <dlfcn.h>

#include "app/host/program_file.hpp"

namespace paceline {

namespace fs = std::filesystem;

std::optional<fs::path> plugin_file(const std::string& name) {
    const fs::path here = program_file().parent_path();
    std::error_code ignored;
    for (const fs::path& file : {(here / "../lib/paceline" / name).lexically_normal(), here / name})
        if (fs::exists(file, ignored)) return file;
    return std::nullopt;
}

Plugin load_plugin(const std::string& name, const char* function) {
    const std::optional<fs::path> file = plugin_file(name);
    if (!file) return {nullptr, name + " was not found"};
    // Open MPI's own plugins look for its symbols among the global ones.
    void* const plugin = ::dlopen(file->c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* const found = plugin == nullptr ? nullptr : ::dlsym(plugin, function);
    if (found == nullptr) return {nullptr, ::dlerror()};  // NOLINT(concurrency-mt-unsafe)
    return {found, ""};
}

}  // namespace paceline
