// Which algorithms, codecs, aggregations and schedules go together, as the tables of
// docs/combinations.md.
#pragma once

#include <cstdint>
#include <string>

namespace paceline {

/// Returns the tables of all pairs of choices as Markdown. A cell says "yes" or has the number of a
/// reason; the reasons follow.
std::string combinations_text();

/// Of all combinations of a kind of algorithm, a codec, an aggregation and a schedule.
struct CombinationCounts {
    std::int64_t run = 0;
    std::int64_t refused = 0;
};
CombinationCounts count_combinations();

}  // namespace paceline
