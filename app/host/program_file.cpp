#include "app/host/program_file.hpp"

#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#ifdef __GLIBC__
#include <link.h>
#endif

namespace paceline {

namespace fs = std::filesystem;

namespace {

// An object of this library; its address shows which file it was loaded from.
const char here = 0;

}  // namespace

fs::path program_file() {
    Dl_info info{};
#ifdef __GLIBC__
    void* map = nullptr;
    if (::dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr)
        // The loader gives the program itself no name.
        if (const fs::path name = static_cast<const link_map*>(map)->l_name; !name.empty())
            return fs::absolute(name);
    return fs::read_symlink("/proc/self/exe");
#else
    return ::dladdr(&here, &info) != 0 ? fs::canonical(info.dli_fname) : fs::path();
#endif
}

fs::path installed_place(const ShippedFolder& folder, const fs::path& program) {
    return (program.parent_path() / "../share/paceline" / folder.name).lexically_normal();
}

std::optional<fs::path> find_shipped(const ShippedFolder& folder, const fs::path& program) {
    constexpr std::string_view source_tree = PACELINE_SOURCE_TREE;
    std::vector<fs::path> places{installed_place(folder, program),
                                 program.parent_path() / folder.name};
    if (!source_tree.empty()) places.push_back(fs::path(source_tree) / folder.source_name);
    std::error_code ignored;
    for (const fs::path& place : places)
        if (fs::exists(place / folder.file, ignored)) return place;
    return std::nullopt;
}

}  // namespace paceline
