#include "app/host/output.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
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

[[noreturn]] void refuse_output(const fs::path& file, std::string_view what, int error) {
    throw OutputError(fmt::format("{}: {}: {}", file.string(), what, std::strerror(error)));
}

// Returns the part of a name that nobody can foresee.
std::string unforeseeable_digits(const fs::path& file) {
    std::uint64_t number = 0;
    if (::getentropy(&number, sizeof number) != 0)
        refuse_output(file, "cannot be written: no random name", errno);
    return fmt::format("{:016x}", number);
}

// Creates a file under a name that belongs to nothing else. Returns its descriptor.
int create_new(const fs::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
}

void write_all(int handle, const fs::path& file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(handle, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuse_output(file, "cannot be written completely", errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

// A new open file beside `file`, which the destructor removes unless it is renamed. Its name cannot
// be foreseen and belongs to nothing else, so that nobody's link is followed and no two processes
// share it.
class TemporaryFile {
  public:
    explicit TemporaryFile(fs::path file)
        : file_(std::move(file)),
          path_(fs::path(file_).concat("." + unforeseeable_digits(file_) + ".tmp")),
          handle_(create_new(path_)) {
        if (handle_ < 0) fail("cannot be written", errno);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (handle_ >= 0) ::close(handle_);
        if (!kept_) ::unlink(path_.c_str());
    }

    void write(std::string_view text, Flush flush) {
        write_all(handle_, file_, text);
        if (flush == Flush::yes && ::fsync(handle_) != 0 && errno != EINVAL && errno != EROFS)
            fail("cannot be flushed to disk", errno);
    }

    void take_its_place() {
        const int handle = std::exchange(handle_, -1);
        if (::close(handle) != 0) fail("cannot be closed", errno);
        if (::rename(path_.c_str(), file_.c_str()) != 0) fail("cannot be renamed", errno);
        kept_ = true;
    }

  private:
    [[noreturn]] void fail(std::string_view what, int error) const {
        refuse_output(file_, what, error);
    }

    fs::path file_;
    fs::path path_;  // until it takes its place
    int handle_;
    bool kept_ = false;
};

// Returns whether this is a name that TemporaryFile makes.
bool is_temporary(std::string_view name) {
    constexpr std::string_view end = ".tmp";
    constexpr std::size_t digits = 16;
    if (!name.ends_with(end) || name.size() < 1 + digits + end.size()) return false;
    name.remove_suffix(end.size());
    const std::string_view number = name.substr(name.size() - digits);
    return name[name.size() - digits - 1] == '.' &&
           number.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

void remove_leftovers(const fs::path& folder, std::chrono::seconds age) {
    const auto long_ago = fs::file_time_type::clock::now() - age;
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::end(entry);
         entry.increment(error)) {
        std::error_code ignored;
        if (is_temporary(entry->path().filename().string()) &&
            entry->symlink_status(ignored).type() == fs::file_type::regular &&
            entry->last_write_time(ignored) < long_ago)
            fs::remove(entry->path(), ignored);
    }
}

void prepare_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && !fs::is_directory(folder, error) && !error)
        error = std::make_error_code(std::errc::not_a_directory);
    if (error)
        throw OutputError(
            fmt::format("{}: the output folder cannot be created: {}; name another with --out",
                        folder.string(), error.message()));
    try {
        TemporaryFile(folder / ".writable").write("", Flush::yes);
    } catch (const OutputError& unwritable) {
        throw OutputError(fmt::format("{}; name another folder with --out", unwritable.what()));
    }
    remove_leftovers(folder, std::chrono::hours(1));
}

void write_file(const fs::path& file, std::string_view text, Flush flush) {
    TemporaryFile temporary(file);
    temporary.write(text, flush);
    temporary.take_its_place();
}

void write_file_in_pieces(
    const fs::path& file,
    const std::function<void(const std::function<void(std::string_view piece)>& sink)>& write) {
    TemporaryFile temporary(file);
    write([&temporary](std::string_view piece) { temporary.write(piece, Flush::no); });
    temporary.write("", Flush::yes);
    temporary.take_its_place();
}

GrowingFile::GrowingFile(const fs::path& folder, std::string_view ending)
    : path_(folder / (unforeseeable_digits(folder) + std::string(ending))),
      handle_(create_new(path_)) {
    if (handle_ < 0) refuse_output(path_, "cannot be written", errno);
}

GrowingFile::~GrowingFile() {
    ::close(handle_);
    if (size_ == 0) ::unlink(path_.c_str());
}

void GrowingFile::append(std::string_view piece) {
    try {
        write_all(handle_, path_, piece);
    } catch (const OutputError&) {
        const auto whole = static_cast<off_t>(size_);
        if (::ftruncate(handle_, whole) == 0) ::lseek(handle_, whole, SEEK_SET);
        throw;
    }
    size_ += piece.size();
}

}  // namespace paceline
