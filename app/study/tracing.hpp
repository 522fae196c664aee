// paceline run --trace: selects the points of a study to trace, what to record, and where the files
// go.
//
//   <folder>/traces/point-<i>.json    of point i, counted from 0 as in results.csv
//
// A trace is recorded in memory while its point runs. When the point has ended, it is written piece
// by piece to a temporary file, which is then renamed. A point whose run was stopped or has thrown
// leaves no trace. Tracing does not affect results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/measures/metrics.hpp"
#include "analysis/traces/trace_recorder.hpp"
#include "app/run/run_observer.hpp"
#include "app/run/trace_machine.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

/// As given on the command line; empty: not given.
struct TraceArguments {
    std::string time;        // "1.5s..2s", "..100ms", "10s.."
    std::string nodes;       // "0,1,4..7": nodes of the main job, servers after workers
    std::string iterations;  // "10..12", "5", "..3"
    std::string points;      // "0,3", "all"
    std::uint64_t limit = 1'000'000;
};

class Tracing {
  public:
    /// Prepares to trace a study, which must outlive this object. Throws ConfigError.
    Tracing(const Study& study, const TraceArguments& arguments);

    /// Creates <folder>/traces. Throws OutputError.
    void write_into(const std::filesystem::path& folder);

    [[nodiscard]] bool traces(std::size_t point) const { return points_.contains(point); }
    [[nodiscard]] std::size_t points() const { return points_.size(); }

    /// Runs a traced point and writes its file. Requires an earlier call of write_into. Several
    /// threads may call this for different points. `also` observes the network beside it, and may
    /// be null. Throws OutputError.
    Metrics run(std::size_t point, const Scenario& scenario, Progress* progress,
                const Observer* also = nullptr);

    /// Returns what was cut off and how to avoid that, one line per point in order.
    [[nodiscard]] std::vector<std::string> warnings() const;

  private:
    void choose_points(const std::string& text);
    void choose_nodes(const std::string& text);
    void write(std::size_t point, const TraceRecorder& record);

    const Study& study_;
    TraceFilter filter_;
    std::set<std::size_t> points_;
    std::optional<std::set<int>> nodes_;
    std::filesystem::path folder_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::string> warnings_;
};

}  // namespace paceline
