#include "app/host/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/host/available_memory.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline {

namespace fs = std::filesystem;

std::string read_text(const std::string& file) {
    std::error_code error;
    if (fs::is_directory(file, error)) throw ConfigError(file, "", "is a directory; name a file");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw ConfigError(file, "", fmt::format("cannot be read: {}", std::strerror(errno)));
    std::string text;
    for (std::array<char, 16384> piece{}; in && text.size() <= max_file_size;) {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) throw ConfigError(file, "", "cannot be read completely");
    check_file_size(text.size(), file);
    return text;
}

std::vector<unsigned char> read_bytes(const std::string& file, std::uint64_t limit) {
    std::error_code error;
    if (!fs::is_regular_file(file, error))
        throw DataError(file, 0, "there is no such regular file");
    const std::uintmax_t length = fs::file_size(file, error);
    if (error) throw DataError(file, 0, fmt::format("cannot be read: {}", error.message()));
    check_length(file, length, limit);
    std::ifstream in(file, std::ios::binary);
    if (!in) throw DataError(file, 0, "cannot be opened for reading");
    std::vector<unsigned char> bytes(length);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
    const auto got = static_cast<std::uint64_t>(in.gcount());
    if (got != length)
        throw DataError(file, got, fmt::format("reading ended here, of {} bytes", length));
    return bytes;
}

namespace {

// Closes a descriptor at the end of its life.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

[[noreturn]] void refuse_file(const fs::path& file, std::string_view why) {
    throw UnusableFile(fmt::format("{}: {}", file.string(), why));
}

}  // namespace

std::optional<std::string> read_own_file(const fs::path& file, std::size_t most, std::size_t from) {
    const Descriptor in(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (in.number() < 0 && errno == ENOENT) return std::nullopt;
    if (in.number() < 0 && errno == ELOOP) refuse_file(file, "is a link, not a file");
    struct stat what{};
    if (in.number() < 0 || ::fstat(in.number(), &what) != 0)
        refuse_file(file, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (!S_ISREG(what.st_mode)) refuse_file(file, "is not a regular file");
    const std::size_t begin = std::min(static_cast<std::size_t>(what.st_size), from);
    std::string text(std::min(static_cast<std::size_t>(what.st_size) - begin, most), '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const ssize_t read = ::pread(in.number(), text.data() + got, text.size() - got,
                                     static_cast<off_t>(begin + got));
        if (read < 0 && errno == EINTR) continue;
        if (read < 0) refuse_file(file, fmt::format("cannot be read: {}", std::strerror(errno)));
        if (read == 0) break;
        got += static_cast<std::size_t>(read);
    }
    text.resize(got);
    return text;
}

Sources files_of_this_machine() {
    return {.text = &read_text,
            .data = [](const std::string& file) { return read_bytes(file); },
            .available_memory = &available_memory};
}

}  // namespace paceline
