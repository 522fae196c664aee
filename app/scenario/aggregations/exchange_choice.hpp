// Reads the "aggregation" and the "schedule" of an algorithm.
//
//   "aggregation": "two-phase"
//   "aggregation": {"kind": "servers", "servers": "workers", "encoded": "both", "machines":
//   "leaders"} "schedule": "tensors" "schedule": {"pieces": "25MiB", "begin": "into-forward",
//   "order": "priority", "partition": "4MiB"}
//
// A text stands for an object of that kind, or with those pieces, and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "algorithms/coders/aggregation.hpp"
#include "algorithms/exchange/piece_schedule.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/aggregations/all_reduces.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

enum class AggregationKind : std::uint8_t {
    all_reduce,
    all_gather,
    two_phase,
    sparse_all_reduce,
    servers,
    neighbors,
};

struct AggregationChoice {
    AggregationKind kind = AggregationKind::all_reduce;
    AggregationPlan plan{};  // its aggregation says nothing about neighbors
};

enum class PieceRule : std::uint8_t { whole, tensors, buckets, merged };

struct ScheduleChoice {
    PieceRule pieces = PieceRule::whole;
    Bytes bucket{};  // size of the buckets; tensors: 1 byte
    ExchangeSchedule schedule{};
};

struct AggregationEntry {
    std::string_view name;
    std::string_view summary;
};
std::span<const AggregationEntry> aggregation_table();

/// Return the keys that the object of an aggregation, or of a schedule, can have.
Keys aggregation_keys(std::string_view name);
Keys schedule_keys();

/// Throws ConfigError.
AggregationChoice read_aggregation_choice(const Place& place, const WorkerShape& shape);
AllToAll read_all_to_all(const Place& place);
ScheduleChoice read_schedule_choice(const Place& place);

}  // namespace paceline
