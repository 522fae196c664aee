#include "app/host/available_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace paceline {

namespace {

namespace fs = std::filesystem;

constexpr const char* group_limit = "the limit of its control group";

// Returns the number behind a name at the beginning of a line, such as of /proc/meminfo.
std::optional<std::int64_t> number_behind(const fs::path& file, const std::string& name) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(name + " ")) continue;
        std::int64_t number = 0;
        if (std::istringstream(line.substr(name.size())) >> number) return number;
    }
    return std::nullopt;
}

// Returns the number that is all of a file; nothing for "max".
std::optional<std::int64_t> number_in(const fs::path& file) {
    std::ifstream in(file);
    std::int64_t number = 0;
    if (in >> number) return number;
    return std::nullopt;
}

void lower(AvailableMemory& memory, std::int64_t bytes, const char* limit) {
    const Bytes free{std::max<std::int64_t>(bytes, 1)};  // 0 is not known
    if (memory.bytes != Bytes{0} && memory.bytes <= free) return;
    memory = {free, limit};
}

// A kind of control groups: its files, and what a mount and a line of /proc/self/cgroup say of it.
struct Groups {
    const char* limit;
    const char* taken;
    const char* cache;  // in memory.stat
    std::string filesystem;
    std::string controller;  // v1: among the mount's options; v2: none
};

// Where groups are mounted, and which of them is the root of the mount.
struct Mount {
    fs::path at;
    std::string root;
};

bool has_word(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

std::optional<Mount> mount_of(const Groups& groups, const fs::path& root) {
    std::ifstream in(root / "proc/self/mountinfo");
    for (std::string line; std::getline(in, line);) {
        const std::size_t dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        if (line.compare(dash + 3, groups.filesystem.size(), groups.filesystem) != 0) continue;
        std::istringstream before(line.substr(0, dash));
        std::istringstream after(line.substr(dash + 3));
        std::string ignored;
        Mount mount;
        std::string at;
        std::string filesystem;
        std::string options;
        before >> ignored >> ignored >> ignored >> mount.root >> at;
        after >> filesystem >> ignored >> options;
        if (filesystem != groups.filesystem) continue;
        if (!groups.controller.empty() && !has_word(options, groups.controller)) continue;
        mount.at = root / fs::path(at).relative_path();
        return mount;
    }
    return std::nullopt;
}

// Returns the path of the process's group, "/" and on.
std::optional<std::string> group_of(const Groups& groups, const fs::path& root) {
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {  // number:controllers:path
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (groups.controller.empty() ? controllers.empty()
                                      : has_word(controllers, groups.controller))
            return line.substr(second + 1);
    }
    return std::nullopt;
}

// Looks at the group and at all above it, up to that which is mounted.
void lower_by_groups(AvailableMemory& memory, const Groups& groups, const fs::path& root) {
    const auto mount = mount_of(groups, root);
    auto path = group_of(groups, root);
    if (!mount || !path) return;
    // In a container, the mount may begin at the group of the container.
    if (mount->root != "/" && (*path + "/").starts_with(mount->root + "/"))
        *path = path->substr(mount->root.size());
    fs::path group = mount->at / fs::path(*path).relative_path();
    std::error_code error;
    if (!fs::is_directory(group, error)) group = mount->at;
    for (;; group = group.parent_path()) {
        const auto limit = number_in(group / groups.limit);
        const auto taken = number_in(group / groups.taken);
        const std::int64_t cache = number_behind(group / "memory.stat", groups.cache).value_or(0);
        if (limit && taken) lower(memory, *limit - (*taken - cache), group_limit);
        if (group == mount->at || group == group.parent_path()) return;
    }
}

void lower_by_limit(AvailableMemory& memory, decltype(RLIMIT_AS) resource, std::int64_t pages,
                    const char* name) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) return;
    if (limit.rlim_cur == RLIM_INFINITY || !std::in_range<std::int64_t>(limit.rlim_cur)) return;
    lower(memory, static_cast<std::int64_t>(limit.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE),
          name);
}

}  // namespace

AvailableMemory memory_by_files(const fs::path& root) {
    AvailableMemory memory;
    if (const auto kibibytes = number_behind(root / "proc/meminfo", "MemAvailable:"))
        memory.bytes = *kibibytes * Bytes{1024};
    lower_by_groups(memory, {"memory.max", "memory.current", "inactive_file", "cgroup2", ""}, root);
    lower_by_groups(memory,
                    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                     "cgroup", "memory"},
                    root);
    return memory;
}

AvailableMemory available_memory() {
    AvailableMemory memory = memory_by_files("/");
    std::ifstream in("/proc/self/statm");
    std::int64_t size = 0;  // in pages, as all of the line
    std::int64_t ignored = 0;
    std::int64_t data = 0;
    if (in >> size >> ignored >> ignored >> ignored >> ignored >> data) {
        lower_by_limit(memory, RLIMIT_AS, size, "ulimit -v");
        lower_by_limit(memory, RLIMIT_DATA, data, "ulimit -d");
    }
    return memory;
}

}  // namespace paceline
