// What `paceline solve` asks of the simulator: a column of the scenario's result at values of the
// free quantity, and of the other scenario that it is compared with.
//
// Each point is run once, side by side with the others that are asked for together, and kept in a
// folder as `paceline run` keeps its own (app/kept_points.hpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "analysis/crossings.hpp"
#include "app/free_quantity.hpp"
#include "app/run_pool.hpp"
#include "app/study.hpp"
#include "app/study_progress.hpp"

namespace paceline {

struct SolveOptions {
    PoolSize pool;
    Telling telling = Telling::nothing;
    std::optional<std::filesystem::path> keep_in{};
    std::stop_token stop{};
};

/// A scenario whose column is looked at.
struct Subject {
    std::vector<std::string> settings;  // as --set takes them
    bool varies = true;                 // with the free quantity
};

/// Someone has stopped the search; what has finished is kept.
struct SearchStopped {};

/// One point: its scenario, or why the scenario is refused.
struct Candidate {
    std::optional<Point> point;
    std::string refusal;
};

class SolvePoints {
  public:
    SolvePoints(std::string file, FreeQuantity free, SolveOptions options)
        : file_(std::move(file)), free_(std::move(free)), options_(std::move(options)) {}

    /// The point of a subject where the free quantity has that value. Throws ConfigError.
    Point read(const Subject& subject, double value);
    /// The same; a refusal is part of the answer.
    Candidate candidate(const Subject& subject, double value);

    /// A column of each; nothing where it is empty, or the point was refused, failed or diverged.
    /// Throws SearchStopped, OutputError, and ConfigError when memory would not do.
    std::vector<std::optional<double>> column(const std::vector<Candidate>& candidates,
                                              std::string_view name);

    /// Why a candidate has no value; empty if it has. Requires that it was asked for.
    [[nodiscard]] std::string why_empty(const Candidate& candidate, std::string_view name) const;

    [[nodiscard]] std::size_t points() const { return results_.size(); }
    [[nodiscard]] std::size_t kept() const { return kept_; }

  private:
    void run(Study study);

    std::string file_;
    FreeQuantity free_;
    SolveOptions options_;
    DataCache cache_;
    std::map<std::string, Metrics> results_;  // by what the point is as JSON
    std::size_t kept_ = 0;                    // of them, from before
};

}  // namespace paceline
