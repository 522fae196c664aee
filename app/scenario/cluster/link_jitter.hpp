// The table of jitter laws by name: the values that a link's "jitter" can take
// (sim/network/jitter.hpp defines the laws).
#pragma once

#include <span>
#include <string_view>

#include "app/json/object_reader.hpp"
#include "sim/network/jitter.hpp"

namespace paceline {

struct LinkJitterEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    LinkJitter (*read)(const ObjectReader& read);
};

std::span<const LinkJitterEntry> link_jitter_table();

/// Throws ConfigError.
LinkJitter read_link_jitter(const Place& place);

}  // namespace paceline
