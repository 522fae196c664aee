#include "app/host/folder_lock.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/host/output.hpp"
#include "app/json/printable.hpp"

namespace paceline {

namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

std::string about_this_process(std::string_view command) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return fmt::format("process {} on {} since {:%F %T} UTC: {}", ::getpid(), host_name(), now,
                       command);
}

std::string holder(int handle) {
    std::array<char, 400> text{};
    const ssize_t read = ::pread(handle, text.data(), text.size(), 0);
    return read > 0 ? printable({text.data(), static_cast<std::size_t>(read)}) : "another process";
}

// Returns whether the open file is still the one of this name: the process that held the lock
// before may have removed it meanwhile.
bool is_still(int handle, const std::filesystem::path& file) {
    struct stat opened{};
    struct stat named{};
    return ::fstat(handle, &opened) == 0 && ::lstat(file.c_str(), &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view command)
    : file_(folder / ".lock") {
    try {
        while (!open_and_lock()) {
        }
    } catch (...) {
        if (handle_ >= 0) ::close(handle_);
        throw;
    }
    const std::string about = about_this_process(command);
    // Without this text the lock is as good.
    if (::ftruncate(handle_, 0) == 0) (void)!::pwrite(handle_, about.data(), about.size(), 0);
}

FolderLock::~FolderLock() {
    if (warning_.empty()) ::unlink(file_.c_str());
    ::close(handle_);
}

// Returns false if the file went away meanwhile.
bool FolderLock::open_and_lock() {
    handle_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    struct stat what{};
    if (handle_ < 0 || ::fstat(handle_, &what) != 0 || !S_ISREG(what.st_mode))
        throw OutputError(
            fmt::format("{}: is not a regular file that can be locked{}; remove it", file_.string(),
                        handle_ < 0 ? fmt::format(": {}", std::strerror(errno)) : ""));
    if (::flock(handle_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            throw OutputError(
                fmt::format("{}: is in use by {}; wait for it, or name another "
                            "folder with --out",
                            file_.parent_path().string(), holder(handle_)));
        warning_ = fmt::format("{}: cannot be locked ({}); let no other paceline write there",
                               file_.parent_path().string(), std::strerror(errno));
        return true;
    }
    if (is_still(handle_, file_)) return true;
    ::close(handle_);
    handle_ = -1;
    return false;
}

}  // namespace paceline
