// Writes files atomically: each is written under another name, flushed to the disk, and then
// renamed. The other name, FILE.<random>.tmp, is new and cannot be foreseen, so no link is followed
// and several processes may write the same file. A link at FILE itself is replaced.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace paceline {

/// A file or folder cannot be written; the message says why.
struct OutputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Creates the folder if necessary, checks that a file can be written there, and removes files that
/// a process killed over an hour ago has left half-written. Throws OutputError.
void prepare_folder(const std::filesystem::path& folder);

/// Removes files that killed processes have left half-written, if they are older than `age`.
void remove_leftovers(const std::filesystem::path& folder, std::chrono::seconds age);

/// Whether a file is flushed to the disk before it is renamed. A file that is not flushed may be
/// empty or truncated after a power failure, so its readers must detect that.
enum class Flush : std::uint8_t { no, yes };

/// Replaces the file by `text`, or leaves it unchanged and throws OutputError.
void write_file(const std::filesystem::path& file, std::string_view text, Flush flush = Flush::yes);

/// Does the same for a long text that comes in pieces: calls `write` with the sink for the pieces.
/// The file is not flushed to the disk before it is renamed.
void write_file_in_pieces(
    const std::filesystem::path& file,
    const std::function<void(const std::function<void(std::string_view piece)>& sink)>& write);

/// A new file that grows at its end: <folder>/<16 random hex digits><ending>. Its name cannot be
/// foreseen and belongs to no other process. Each piece is in the file when append() returns, and
/// is not flushed to the disk: a power failure may leave any part of it. The file stays, unless it
/// is empty.
class GrowingFile {
  public:
    /// Throws OutputError.
    GrowingFile(const std::filesystem::path& folder, std::string_view ending);
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;
    ~GrowingFile();

    /// Adds all of the piece, or nothing and throws OutputError. A process that is killed meanwhile
    /// may leave a part of it.
    void append(std::string_view piece);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    std::filesystem::path path_;
    int handle_;
    std::size_t size_ = 0;
};

}  // namespace paceline
