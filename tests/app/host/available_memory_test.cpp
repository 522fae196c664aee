#include "app/host/available_memory.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/app/host/temporary_folder.hpp"

namespace paceline::available_memory_test {
namespace {

constexpr const char* v1_mount =
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
constexpr const char* v2_mount = "30 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

// A machine with 8 GB available.
struct Machine {
    TemporaryFolder root;

    Machine() { write("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n"); }

    void write(const std::string& file, const std::string& text) const {
        (void)root.write(file, text);
    }
    void mounted(const std::string& mounts, const std::string& group) const {
        write("proc/self/mountinfo", "31 23 0:28 / / rw - ext4 /dev/sda rw\n" + mounts);
        write("proc/self/cgroup", group);
    }
    void v1(const std::string& group, const std::string& limit, std::int64_t taken,
            std::int64_t cache) const {
        group_of("sys/fs/cgroup/memory" + group,
                 {{"memory.limit_in_bytes", limit},
                  {"memory.usage_in_bytes", std::to_string(taken)},
                  {"memory.stat", fmt::format("cache 7\ntotal_inactive_file {}", cache)}});
    }
    void v2(const std::string& group, const std::string& limit, std::int64_t taken,
            std::int64_t cache) const {
        group_of("sys/fs/cgroup" + group,
                 {{"memory.max", limit},
                  {"memory.current", std::to_string(taken)},
                  {"memory.stat", fmt::format("anon 5\ninactive_file {}", cache)}});
    }
    void group_of(const std::string& folder,
                  const std::map<std::string, std::string>& files) const {
        for (const auto& [name, text] : files) write(folder + "/" + name, text + "\n");
    }
    [[nodiscard]] AvailableMemory memory() const { return memory_by_files(root.path()); }
};

void check_machine(const AvailableMemory& memory) {
    CHECK(memory.bytes == Bytes{8'192'000'000});
    CHECK(memory.limit.empty());
}

void check_group(const AvailableMemory& memory, std::int64_t bytes) {
    CHECK(memory.bytes == Bytes{bytes});
    CHECK(memory.limit == "the limit of its control group");
}

TEST_CASE("available memory: without control groups it is what the machine has") {
    const Machine machine;
    check_machine(machine.memory());
    machine.mounted(std::string(v1_mount) + v2_mount, "4:memory:/a\n0::/a\n");
    check_machine(machine.memory());
}

TEST_CASE("available memory: a group's limit, less what it has taken but for its cache") {
    const Machine old;
    old.mounted(v1_mount, "9:name=systemd:/\n4:memory:/a/b\n0::/\n");
    old.v1("/a/b", "600000000", 100'000'000, 40'000'000);
    check_group(old.memory(), 540'000'000);

    const Machine unified;
    unified.mounted(v2_mount, "0::/a/b\n");
    unified.v2("/a/b", "600000000", 100'000'000, 40'000'000);
    check_group(unified.memory(), 540'000'000);
}

TEST_CASE("available memory: the least of all groups above holds, and no limit is none") {
    const Machine old;
    old.mounted(v1_mount, "4:cpu,memory:/a/b\n");
    old.v1("/a/b", "9223372036854771712", 1'000, 0);
    check_machine(old.memory());
    old.v1("/a", "500", 100, 0);
    check_group(old.memory(), 400);
    old.v1("", "300", 100, 0);
    check_group(old.memory(), 200);

    const Machine unified;
    unified.mounted(v2_mount, "0::/a/b\n");
    unified.v2("/a/b", "max", 1'000, 0);
    check_machine(unified.memory());
    unified.v2("/a", "500", 100, 0);
    check_group(unified.memory(), 400);
    unified.v2("/a/b", "150", 100, 0);
    check_group(unified.memory(), 50);
    unified.v2("/a/b", "150", 400, 0);  // lowered after it was taken
    check_group(unified.memory(), 1);
}

TEST_CASE("available memory: in a container, the mount begins at the container's group") {
    const Machine container;
    container.mounted("35 31 0:32 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                      "4:memory:/docker/x/job\n");
    container.v1("/job", "500", 100, 0);
    check_group(container.memory(), 400);

    // Of a group whose name only begins alike, the root of the mount is what can be seen.
    const Machine alike;
    alike.mounted("35 31 0:32 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                  "4:memory:/docker/xy\n");
    alike.v1("", "500", 200, 0);
    alike.v1("/y", "50", 0, 0);
    check_group(alike.memory(), 300);

    // What the process cannot see is as if it were the root of the mount.
    const Machine hidden;
    hidden.mounted(v1_mount, "4:memory:/docker/x\n");
    hidden.v1("", "500", 100, 0);
    check_group(hidden.memory(), 400);
}

TEST_CASE("available memory: files that are none of these limit nothing") {
    const TemporaryFolder nothing;
    CHECK(memory_by_files(nothing.path()).bytes == Bytes{0});
    const Machine odd;
    odd.mounted("nonsense\n - \n1 2 3 - cgroup\n", "::\nmemory\n0\n");
    check_machine(odd.memory());
}

// A sanitizer reserves terabytes of addresses, so a limit of the tests must lie beyond them.
rlim_t taken_by_process() {
    std::ifstream in("/proc/self/statm");
    rlim_t pages = 0;
    in >> pages;
    REQUIRE(pages > 0);
    return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

TEST_CASE("available memory: a limit of the process holds, less what it has taken") {
    constexpr std::int64_t beyond = std::int64_t{1} << 30U;
    for (const auto& [resource, name] :
         {std::pair{RLIMIT_AS, "ulimit -v"}, std::pair{RLIMIT_DATA, "ulimit -d"}}) {
        CAPTURE(name);
        rlimit before{};
        REQUIRE(::getrlimit(resource, &before) == 0);
        const rlim_t taken = taken_by_process();
        const rlimit limited{taken + beyond, before.rlim_max};
        REQUIRE(::setrlimit(resource, &limited) == 0);
        const AvailableMemory memory = available_memory();
        REQUIRE(::setrlimit(resource, &before) == 0);
        CHECK(memory.bytes.count >= 1);
        if (resource == RLIMIT_AS) CHECK(memory.bytes.count <= beyond);
        CHECK(memory.bytes <= Bytes{static_cast<std::int64_t>(limited.rlim_cur)});
        if (memory_by_files("/").bytes > memory.bytes)
            CHECK(memory.limit == name);
        else
            CHECK(memory.limit != name);
    }
}

}  // namespace
}  // namespace paceline::available_memory_test
