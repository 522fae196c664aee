// Stores results of points in a folder, one after the other in a journal, <16 hex digits>.points. A
// result is in the file as soon as its point has finished, so it survives the death of the process.
// Several processes may use a folder at once, since each writes a journal of its own: a file for
// each point would cost several times as much as running a small point does.
//
// A journal is a row of the texts of app/study/point_file.hpp. The first and the last line of a
// text are like no other of its lines, and it has a hash of itself. One that a kill or a power
// failure has cut is ignored, and those beside it are found.
//
// Only regular files are read, and only up to most_journal_bytes + most_point_bytes. Whatever else
// has the name of a journal counts as not there, with a warning. A point that is taken from a
// journal of some days ago is written again. forget_unused() removes journals that are so old that
// nobody has used their points for long.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/host/output.hpp"
#include "app/run/results.hpp"

namespace paceline {

inline constexpr std::size_t most_point_bytes = std::size_t{256} << 20U;
inline constexpr std::size_t most_journal_bytes = std::size_t{4} << 20U;  // then another begins

/// A point that is taken from a journal of at least this age is written again.
inline constexpr std::chrono::days age_of_renewal{10};

class KeptPoints {
  public:
    /// Creates the folder. Throws OutputError.
    explicit KeptPoints(std::filesystem::path folder);

    /// Returns nothing unless there is a complete result with this key, of before the first call or
    /// of keep(). Thread-safe.
    [[nodiscard]] std::optional<PointResult> find(const std::string& key);

    /// Stores the result. Thread-safe. Throws OutputError.
    void keep(const std::string& key, const PointResult& result);

    /// Removes journals from which no run can have taken or written a point since `before`.
    void forget_unused(std::filesystem::file_time_type before) const;

    /// Returns what was wrong with entries of the folder. Thread-safe.
    [[nodiscard]] std::vector<std::string> warnings() const;

  private:
    struct Place {
        std::size_t journal;
        std::size_t offset;
        std::size_t size;
    };
    struct Journal {
        std::filesystem::path file;
        std::filesystem::file_time_type written;
    };

    // All of these require the lock.
    void read_journals();
    void read_journal(std::size_t journal);
    [[nodiscard]] std::string text_at(const Place& place);
    void add(const std::string& key, const Place& place);
    void renew(const std::string& key, std::string_view text);
    void append(const std::string& key, std::string_view text);

    std::filesystem::path folder_;
    mutable std::mutex mutex_;
    std::optional<GrowingFile> own_;  // the journal that this object writes
    std::size_t own_place_ = 0;       // in journals_
    bool has_read_ = false;
    std::vector<Journal> journals_;
    std::multimap<std::string, Place> places_;  // by key, the latest first
    std::vector<std::string> warnings_;
};

}  // namespace paceline
