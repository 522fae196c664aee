// Which method is faster, and how sure that is. Two methods are compared on the same machines:
//
//   times as fast  =  step time of the other / step time of the method
//
// with the interval of a ratio (`interval_of_ratio`). What a model misses of the network, and what
// measurements leave open of its constants, the two have in common, so a ratio is surer than its
// parts. An order is sure if the interval does not contain 1.
//
// Points are compared that differ in nothing but the method: the axis "algorithm", and axes that
// begin with "algorithm." or advance with one of these (but those of cluster and workload). A point
// without an interval is left out, so without "interval" in "measure" there is nothing to compare.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/trust/time_interval.hpp"
#include "app/run/ran_points.hpp"

namespace paceline {

struct TimesAsFast {
    double predicted = 1;
    RatioInterval ends;  // of the real value

    [[nodiscard]] bool is_sure() const { return ends.low > 1 || ends.high < 1; }
};

/// Compares two points that have intervals.
TimesAsFast compare(const Metrics& method, const Metrics& other);

/// Points of two or more methods on the same machines with the same seed, in the study's order.
using Rivals = std::vector<const RanPoint*>;
std::vector<Rivals> rivals_of(const RanPoints& ran);

/// Returns the axes that say what the method is.
std::vector<std::size_t> method_axes(const RanPoints& ran);

/// Returns comparisons.csv: each point against each rival before it. Nothing if there is none.
///
///   point,algorithm,against,against_algorithm,times_as_fast,times_as_fast_low,times_as_fast_high
std::optional<std::string> comparisons_csv(const RanPoints& ran);

/// Returns a table for people with a line for all machines on which there are several methods: the
/// fastest by the means over the seeds, the next one, and those whose order with the fastest is not
/// sure. Empty if there are no intervals.
std::string fastest_methods(const RanPoints& ran);

}  // namespace paceline
