// Where two functions of one quantity are equal: a scan of a grid, then bisection of every change.
//
// left(x) and right(x) are known where they are asked for. A sample is above (left > right), below
// or equal; it is a gap where either is missing or not a number. Two neighboring samples that differ
// and are no gaps enclose a change: the middle is sampled, until they are as near as the tolerance
// asks. All changes are halved side by side, a batch of samples at a time.
//
// What is found, in the order of x:
//   crossing  from above to below or back; the bracket is as narrow as the tolerance
//   jump      the same, but the difference of left and right does not shrink with the bracket: it is
//             above 10 tolerances of the values themselves, and 10 times what the slopes beside the
//             bracket give. Of quantities that go by steps: never, for nothing lies between steps
//   equal     at one sample, or from a first to a last one. Whether what lies between two equal
//             samples is equal, too, is not looked at
//   hidden    the sides of gaps differ: somewhere in between left and right may cross
//
// Limits: only changes between samples of the grid are seen. Two crossings, or a touch, between
// neighbors of the grid are missed unless a finer grid separates them; a touch at a sample is found.
// Samples beside a gap are not moved closer to it.
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
    /// left - right. Requires that this is no gap.
    [[nodiscard]] double difference() const;
};

/// The sides at each value. Called with values in rising order, none twice.
using Sampler = std::function<std::vector<Sides>(const std::vector<double>& values)>;

enum class ChangeKind : std::uint8_t { crossing, jump, equal, hidden };

struct Change {
    ChangeKind kind;
    Sample first;  // equal: the first equal sample; else the last one before the change
    Sample last;   // equal: the last equal sample; else the first one after the change
    Side before;   // gap: none, or not known
    Side after;
    double at;  // crossing: where the chord between first and last meets 0; else first.x
};

struct Gap {
    double first;
    double last;
};

struct Changes {
    std::vector<Sample> samples;  // all, in rising order
    std::vector<Change> changes;
    std::vector<Gap> gaps;          // neighboring samples that are gaps, as one
    std::optional<Sample> closest;  // the least difference of all; empty: nothing but gaps
};

/// About `count` values from `from` to `to`, ends included, evenly spaced by the scale and rounded to
/// a tenth of their distance; all there are where that is not more than `count`. Requires from < to,
/// both whole multiples of the step, count >= 2, and from > 0 if logarithmic.
std::vector<double> search_grid(double from, double to, std::size_t count, const Search& search);

/// Adds 2^m and 2^m + 1 as far as they lie in the grid's range: where costs of collectives jump.
std::vector<double> with_powers_of_two(std::vector<double> grid);

/// Requires a grid of two values or more, in rising order, and a tolerance or a step above 0.
Changes find_changes(const std::vector<double>& grid, const Sampler& sample, const Search& search);

}  // namespace paceline
