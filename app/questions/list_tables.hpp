// Tables that `paceline list` prints as text and as JSON, of names that have no table of readers.
#pragma once

#include <span>
#include <string_view>

namespace paceline {

struct ScheduleEntry {
    std::string_view name;
    std::string_view summary;
};
std::span<const ScheduleEntry> schedule_table();

struct CollectiveEntry {
    std::string_view key;   // of a scenario, or "exchange": of sparse messages
    std::string_view name;  // its value
    std::string_view closed_form;
};
std::span<const CollectiveEntry> collective_table();

}  // namespace paceline
