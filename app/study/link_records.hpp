// paceline run --links: writes links.csv, the bytes and the utilization of each link in each
// interval of each point (analysis/measures/link_intervals.hpp).
//
//   point, <axes>, algorithm, nodes, link, from_s, to_s, bytes, utilization, capacity_bps
//
// Rows are in the order of points, links and times. A link that carried nothing has none.
//
//   <folder>/links/<key>-<interval>.part   rows of a point that has finished
//   <folder>/links.csv                     joined from these, row by row
//
// A part is named after the key of its point (point_key.hpp), so --resume finds it; a point without
// one is run again. A part ends with the hash of its key and rows (app/host/content_hash.hpp), so
// one that was cut or changed, or is another's, is not used. When all points are done, the parts
// are removed. Recording does not affect results.
//
// Memory: that of LinkIntervals for each point in progress. Files are written and joined in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/measures/link_intervals.hpp"
#include "analysis/measures/metrics.hpp"
#include "app/run/run_observer.hpp"
#include "app/study/study_runs.hpp"

namespace paceline {

class LinkRecords {
  public:
    /// `interval` is a duration such as "10ms"; empty: chosen for each point. Throws ConfigError.
    explicit LinkRecords(const std::string& interval);

    /// Creates <folder>/links. Throws OutputError.
    void write_into(const std::filesystem::path& folder);

    /// Returns whether there is a complete part of the point with this key.
    [[nodiscard]] bool has(const std::string& key) const;

    /// Runs a point, by calling `run` with an observer, and writes its part. Requires an earlier
    /// call of write_into. Thread-safe. Throws OutputError.
    Metrics run(const std::string& key, std::size_t point,
                const std::function<Metrics(const Observer& observer)>& run);

    /// Joins the parts of all points into links.csv, and removes them if the study is complete.
    /// Throws OutputError, also if a part has changed since its point has run.
    void write_csv(const StudyRuns& runs, bool complete) const;

    /// Returns the points whose runs were too long for the interval, one line each in order.
    [[nodiscard]] std::vector<std::string> warnings() const;

  private:
    [[nodiscard]] std::filesystem::path part(const std::string& key) const;
    bool read_part(const std::string& key,
                   const std::function<void(const std::string& row)>& visit) const;
    void write_part(const std::string& key, const LinkIntervals& intervals,
                    const std::function<std::string(LinkId link)>& name);
    void note_width(std::size_t point, Duration width);

    Duration interval_{};  // 0: chosen
    std::filesystem::path folder_;
    mutable std::mutex mutex_;  // identical points share a part
    std::map<std::size_t, std::string> warnings_;
};

}  // namespace paceline
