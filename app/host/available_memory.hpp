// How much memory the program may still take: the least of what the machine has, what its control
// groups allow, and what its own limits allow.
//
//   the machine           MemAvailable of /proc/meminfo, which needs no swap
//   control groups        the limit of each group above the process, less what the group has taken
//                         but for its cache of files, which the kernel gives back (v1 and v2)
//   ulimit -v, -d         RLIMIT_AS and RLIMIT_DATA, less what the process has taken of each
//
// What cannot be read limits nothing. Source: Linux, Documentation/admin-guide/cgroup-v2.rst,
// cgroup-v1/memory.rst and filesystems/proc.rst.
#pragma once

#include <filesystem>

#include "app/json/sources.hpp"

namespace paceline {

AvailableMemory available_memory();

/// Returns what the machine and the control groups allow, by the files below `root` ("/").
AvailableMemory memory_by_files(const std::filesystem::path& root);

}  // namespace paceline
