#include "app/host/output.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace paceline {

namespace fs = std::filesystem;

namespace {

// An open file that the destructor removes unless it is kept.
class TemporaryFile {
  public:
    explicit TemporaryFile(fs::path path)
        : path_(std::move(path)),
          handle_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
        if (handle_ < 0) fail("cannot be written", errno);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (handle_ >= 0) ::close(handle_);
        if (!kept_) ::unlink(path_.c_str());
    }

    void write(std::string_view text, Flush flush) {
        while (!text.empty()) {
            const ssize_t written = ::write(handle_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail("cannot be written to its end", errno);
            text.remove_prefix(static_cast<std::size_t>(written));
        }
        if (flush == Flush::yes && ::fsync(handle_) != 0 && errno != EINVAL && errno != EROFS)
            fail("cannot be brought to the disk", errno);
    }

    void rename_to(const fs::path& file) {
        const int handle = std::exchange(handle_, -1);
        if (::close(handle) != 0) fail("cannot be closed", errno);
        if (::rename(path_.c_str(), file.c_str()) != 0) fail("cannot be renamed", errno);
        kept_ = true;
    }

  private:
    [[noreturn]] void fail(std::string_view what, int error) const {
        if (handle_ >= 0 || error == 0) ::unlink(path_.c_str());
        throw OutputError(fmt::format("{}: {}: {}", path_.string(), what, std::strerror(error)));
    }

    fs::path path_;
    int handle_;
    bool kept_ = false;
};

}  // namespace

void prepare_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && !fs::is_directory(folder, error) && !error)
        error = std::make_error_code(std::errc::not_a_directory);
    if (error)
        throw OutputError(
            fmt::format("{}: the output folder cannot be made: {}; name another with --out",
                        folder.string(), error.message()));
    try {
        TemporaryFile(folder / ".writable.tmp").write("", Flush::yes);
    } catch (const OutputError& unwritable) {
        throw OutputError(fmt::format("{}; name another folder with --out", unwritable.what()));
    }
}

void write_file(const fs::path& file, std::string_view text, Flush flush) {
    TemporaryFile temporary(fs::path(file).concat(".tmp"));
    temporary.write(text, flush);
    temporary.rename_to(file);
}

void write_file_in_pieces(
    const fs::path& file,
    const std::function<void(const std::function<void(std::string_view piece)>& sink)>& write) {
    TemporaryFile temporary(fs::path(file).concat(".tmp"));
    write([&temporary](std::string_view piece) { temporary.write(piece, Flush::no); });
    temporary.rename_to(file);
}

}  // namespace paceline
