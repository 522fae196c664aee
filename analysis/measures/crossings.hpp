// Finds where two functions of one quantity are equal: scans a grid, then bisects every change.
//
// left(x) and right(x) are known at sampled points. A sample is above (left > right), below or
// equal. It is a gap if either value is missing or not a number. Two neighboring samples that
// differ and are not gaps enclose a change. Bisection then samples the middle until the two are as
// close as the tolerance asks. All changes are bisected in parallel, one batch of samples at a
// time.
//
// Findings, in the order of x:
//   crossing  from above to below or back; the bracket is as narrow as the tolerance
//   jump      the same, but the difference of left and right does not shrink with the bracket: it
//             is above 10 tolerances of the values themselves, and above 10 times what the slopes
//             beside the bracket give. Quantities with a step have no jumps, as nothing lies
//             between steps
//   equal     at one sample, or from a first to a last one. Points between two equal samples are
//             not checked
//   hidden    the sides of gaps differ: left and right may cross somewhere in between
//
// Limits: only changes between samples of the grid are seen. Two crossings, or a touch, between
// neighbors of the grid are missed unless a finer grid separates them; a touch at a sample is
// found. Samples beside a gap are not moved closer to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace paceline {

enum class Scale : std::uint8_t { linear, logarithmic };

struct Search {
    Scale scale = Scale::linear;
    double tolerance = 1e-4;  // of a bracket: of its value if logarithmic, else of the whole range
    double step = 0;          // values are whole multiples of it; 0: any number
};

struct Sides {
    std::optional<double> left;
    std::optional<double> right;
};

enum class Side : std::uint8_t { below, equal, above, gap };

struct Sample {
    double x = 0;
    Sides at;

    [[nodiscard]] Side side() const;
    /// Returns left - right. Requires that the sample is not a gap.
    [[nodiscard]] double difference() const;
};

/// Returns the sides at each value. Called with distinct values in increasing order.
using Sampler = std::function<std::vector<Sides>(const std::vector<double>& values)>;

enum class ChangeKind : std::uint8_t { crossing, jump, equal, hidden };

struct Change {
    ChangeKind kind;
    Sample first;  // equal: the first equal sample; else the last one before the change
    Sample last;   // equal: the last equal sample; else the first one after it
    Side before;   // gap: none, or unknown
    Side after;
    double at;  // crossing: where the chord between first and last meets 0; else first.x
};

struct Gap {
    double first;
    double last;
};

struct Changes {
    std::vector<Sample> samples;  // all samples, in increasing order of x
    std::vector<Change> changes;
    std::vector<Gap> gaps;          // each run of neighboring gap samples as one
    std::optional<Sample> closest;  // smallest difference; empty: only gaps
};

/// Returns about `count` values from `from` to `to`, ends included, evenly spaced on the scale and
/// rounded to a tenth of their distance. If at most `count` values exist, returns all of them.
/// Requires from < to, both whole multiples of the step, count >= 2, and from > 0 if logarithmic.
std::vector<double> search_grid(double from, double to, std::size_t count, const Search& search);

/// Adds all 2^m and 2^m + 1 within the grid's range, because costs of collectives jump there.
std::vector<double> with_powers_of_two(std::vector<double> grid);

/// Requires a grid of at least two values in increasing order, and a tolerance or a step above 0.
Changes find_changes(const std::vector<double>& grid, const Sampler& sample, const Search& search);

}  // namespace paceline
