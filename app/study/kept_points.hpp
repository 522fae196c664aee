// Stores results of points in a folder, one small file each, KEY.point. A file exists as soon as
// its point has finished, so it survives the death of the process. It is written under another name
// and then renamed. Several processes may use a folder at once.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "app/run/results.hpp"

namespace paceline {

class KeptPoints {
  public:
    /// Creates the folder, and removes half-written files of a process that was killed long ago.
    /// Throws OutputError.
    explicit KeptPoints(std::filesystem::path folder);

    /// Returns nothing unless there is a complete file with this key.
    [[nodiscard]] std::optional<PointResult> find(const std::string& key) const;

    /// Stores the result. Thread-safe. Throws OutputError.
    void keep(const std::string& key, const PointResult& result);

  private:
    [[nodiscard]] std::filesystem::path file(const std::string& key) const;

    std::filesystem::path folder_;
    std::mutex mutex_;  // identical points share a file
};

}  // namespace paceline
