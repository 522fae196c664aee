// Keeps two processes from writing results to one folder at the same time.
//
// The lock is the file `.lock` in the folder, held with flock: when its process ends, however that
// happens, the lock is free. The file says who holds it: process, machine, since when, command.
// It is removed when the lock is given back; one that a killed process left means nothing. Where a
// file system has no locks (some NFS mounts), the lock is not held and `warning()` says so.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

class FolderLock {
  public:
    /// Requires that the folder exists. Throws OutputError that says who holds the lock, or that
    /// `.lock` is no regular file or cannot be opened.
    FolderLock(const std::filesystem::path& folder, std::string_view command);
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();

    /// Returns why there is no lock; empty if it is held.
    [[nodiscard]] const std::string& warning() const { return warning_; }

  private:
    [[nodiscard]] bool open_and_lock();

    std::filesystem::path file_;
    int handle_ = -1;
    std::string warning_;
};

}  // namespace paceline
