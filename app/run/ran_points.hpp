// The points of a study that were run, and what tables say of each, from one pass over the study.
// It holds little for each point, so that a million of them fit into memory.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/measures/metrics.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

struct PointResult {
    Metrics metrics;
    double wall_clock_s = 0;
};

/// A job of a point: "main", or the label of another job on the same network.
struct RanJob {
    std::string name;
    std::string algorithm;
};

struct RanPoint {
    std::size_t number = 0;           // in the study
    std::vector<std::size_t> choice;  // a value per axis
    std::vector<RanJob> jobs;         // the main one first
    double steps_per_epoch = 0;       // 0: not known
    const PointResult* result = nullptr;

    /// Requires that there is such a job: 0 is the main one.
    [[nodiscard]] const Metrics& metrics(std::size_t job = 0) const {
        return job == 0 ? result->metrics : result->metrics.other_jobs[job - 1];
    }
};

inline constexpr std::size_t no_axis = std::numeric_limits<std::size_t>::max();

struct RanPoints {
    /// Refers to `study` and `results`, which must outlive it. Points without an outcome were not
    /// run and are left out.
    RanPoints(const Study& study, const std::vector<PointResult>& results);

    /// Returns the index of the axis with this path, or `no_axis`.
    [[nodiscard]] std::size_t axis(std::string_view path) const;
    [[nodiscard]] bool several_jobs() const { return most_jobs > 1; }

    const std::string& title;
    const std::vector<Axis>& axes;
    std::vector<RanPoint> points{};
    std::size_t most_jobs = 1;  // of a point
    bool trains = false;        // any of them
};

/// Returns what distinguishes a point on all axes except these; empty if nothing does.
std::string description(const RanPoints& ran, const RanPoint& point,
                        std::span<const std::size_t> without);

/// Points that differ only in the seed. Without an axis "seed" each point is a group of its own.
using Seeds = std::vector<const RanPoint*>;

/// Returns the groups in the order of their first points.
std::vector<Seeds> by_all_but_the_seed(const RanPoints& ran);

/// Mean and standard deviation (of a sample: n - 1) of the values that are there.
struct OverSeeds {
    double mean = 0;
    std::optional<double> deviation;  // of two or more
    std::size_t count = 0;
};
OverSeeds over_seeds(const std::vector<double>& values);

}  // namespace paceline
