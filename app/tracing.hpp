// paceline run --trace: which points of a study are traced, what of them, and where the files go.
//
//   <folder>/traces/point-<i>.json    of point i, counted from 0 as in results.csv
//
// A trace is recorded while its point runs, in memory, and written when it has ended, piece by piece
// into a temporary file that is renamed. A point whose run was stopped or has thrown leaves none.
// Results do not depend on whether they are traced.
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

#include "analysis/metrics.hpp"
#include "analysis/trace_recorder.hpp"
#include "app/observer.hpp"
#include "app/study.hpp"

namespace paceline {

/// As they stand on the command line; empty: not given.
struct TraceArguments {
    std::string time;        // "1.5s..2s", "..100ms", "10s.."
    std::string nodes;       // "0,1,4..7": of the main job, its servers behind them
    std::string iterations;  // "10..12", "5", "..3"
    std::string points;      // "0,3", "all"
    std::uint64_t limit = 1'000'000;
};

class Tracing {
  public:
    /// Of a study that outlives this. Throws ConfigError.
    Tracing(const Study& study, const TraceArguments& arguments);

    /// Makes <folder>/traces. Throws OutputError.
    void write_into(const std::filesystem::path& folder);

    [[nodiscard]] bool traces(std::size_t point) const { return points_.contains(point); }
    [[nodiscard]] std::size_t points() const { return points_.size(); }

    /// Runs a point that is traced, and writes the file. Requires write_into; called by several
    /// threads, for different points. Throws OutputError.
    Metrics run(std::size_t point, const Scenario& scenario, Progress* progress);

    /// What was cut, a line per point in order, and what to do about it.
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

/// The processes of a trace; with `nodes`, only those of the main job are chosen.
TraceMachine trace_machine(const Machine& machine, const std::optional<std::set<int>>& nodes);

}  // namespace paceline
