// Jitter by name: what a link's "jitter" can be (sim/network/jitter.hpp has the laws).
#pragma once

#include <span>
#include <string_view>

#include "app/object_reader.hpp"
#include "sim/network/jitter.hpp"

namespace paceline {

struct JitterEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    Jitter (*read)(const ObjectReader& read);
};

std::span<const JitterEntry> jitter_table();

/// Throws ConfigError.
Jitter read_jitter(const Place& place);

}  // namespace paceline
