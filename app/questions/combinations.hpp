// Which algorithms, codecs, aggregations and schedules go together, as the tables of
// docs/combinations.md.
#pragma once

#include <cstdint>
#include <string>

#include "app/json/json_file.hpp"

namespace paceline {

/// Returns the tables of all pairs of choices as Markdown. A cell says "yes" or has the number of a
/// reason; the reasons follow.
std::string combinations_text();

/// Returns the same tables: for each a "title" and its "pairs", with the "reason" against each pair
/// that is refused.
Json combinations_as_json();

/// Of all combinations of a kind of algorithm, a codec, an aggregation and a schedule.
struct CombinationCounts {
    std::int64_t run = 0;
    std::int64_t refused = 0;
};
CombinationCounts count_combinations();

}  // namespace paceline
