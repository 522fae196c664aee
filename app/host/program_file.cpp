#include "app/host/program_file.hpp"

#include <dlfcn.h>
#include <link.h>

namespace paceline {

namespace fs = std::filesystem;

namespace {

// An object of this library; its address shows which file it was loaded from.
const char here = 0;

}  // namespace

fs::path program_file() {
    Dl_info info{};
    void* map = nullptr;
    if (::dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr)
        // The loader gives the program itself no name.
        if (const fs::path name = static_cast<const link_map*>(map)->l_name; !name.empty())
            return fs::absolute(name);
    return fs::read_symlink("/proc/self/exe");
}

}  // namespace paceline
