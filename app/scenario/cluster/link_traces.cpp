#include "app/scenario/cluster/link_traces.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/json/number_table.hpp"

namespace paceline {

namespace {

constexpr double most_mbps = 1e9;
constexpr double most_trace_seconds = 9e6;  // 104 days, within the clock's range
constexpr auto trace_columns = std::to_array<NumberColumn>({
    {"time_s", "a time in seconds", most_trace_seconds},
    {"up_mbps", "a bandwidth in Mbps", most_mbps},
    {"down_mbps", "a bandwidth in Mbps", most_mbps},
});

Bandwidth megabits(double rate) {
    return {std::llround(1e6 * rate)};
}

}  // namespace

LinkTrace read_link_trace(const Place& place) {
    const NumberTable table = read_number_table(place, trace_columns);
    LinkTrace trace;
    for (const NumberTable::Row& row : table.rows) {
        const Duration at = from_seconds(row.numbers[0]);
        if (trace.rows.empty() && at != Duration::zero())
            table.refuse(row, "the first row's time is 0");
        if (!trace.rows.empty() && at <= trace.rows.back().at)
            table.refuse(row, fmt::format("{} is not later than the row before it, {}",
                                          to_string(at), to_string(trace.rows.back().at)));
        trace.rows.push_back({at, {megabits(row.numbers[1]), megabits(row.numbers[2])}});
    }
    return trace;
}

}  // namespace paceline
