// Stores results of points in a folder, one small file each, KEY.point. A file exists as soon as
// its point has finished, so it survives the death of the process. It is written under another name
// and then renamed. Several processes may use a folder at once.
//
// Only regular files are read, and only up to most_point_bytes. Whatever else has the name of a
// point counts as not there and is replaced; a directory stays, and its point is not kept.
// Each use of a file renews its time. forget_unused() removes those that nobody has used for long.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/run/results.hpp"

namespace paceline {

inline constexpr std::size_t most_point_bytes = std::size_t{256} << 20U;

class KeptPoints {
  public:
    /// Creates the folder. Throws OutputError.
    explicit KeptPoints(std::filesystem::path folder);

    /// Returns nothing unless there is a complete file with this key.
    [[nodiscard]] std::optional<PointResult> find(const std::string& key);

    /// Stores the result. Thread-safe. Throws OutputError.
    void keep(const std::string& key, const PointResult& result);

    /// Removes the files that no run has written or taken since `before`.
    void forget_unused(std::filesystem::file_time_type before) const;

    /// Returns what was wrong with entries of the folder. Thread-safe.
    [[nodiscard]] std::vector<std::string> warnings() const;

  private:
    [[nodiscard]] std::filesystem::path file(const std::string& key) const;

    std::filesystem::path folder_;
    mutable std::mutex mutex_;  // identical points share a file
    std::vector<std::string> warnings_;
};

}  // namespace paceline
