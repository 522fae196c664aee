// Results of points in a folder, one small file each, KEY.point: there as soon as a point has
// finished, whatever becomes of the process. Written under another name, then renamed. Several
// processes may use a folder at once.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "app/results.hpp"

namespace paceline {

class KeptPoints {
  public:
    /// Makes the folder, and removes what a process has left half-written that was killed long ago.
    /// Throws OutputError.
    explicit KeptPoints(std::filesystem::path folder);

    /// Nothing unless a whole file of that key is there.
    [[nodiscard]] std::optional<PointResult> find(const std::string& key) const;

    /// Throws OutputError. Called by several threads.
    void keep(const std::string& key, const PointResult& result);

  private:
    [[nodiscard]] std::filesystem::path file(const std::string& key) const;

    std::filesystem::path folder_;
    std::mutex mutex_;  // points that are alike have one file
};

}  // namespace paceline
