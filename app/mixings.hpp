// Mixings by name: who averages with whom in a decentralized algorithm.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "app/object_reader.hpp"
#include "topologies/mixing/mixing.hpp"

namespace paceline {

struct MixingEntry {
    std::string_view name;
    std::string_view summary;
};

std::span<const MixingEntry> mixing_table();
Keys mixing_keys();

/// What "mixing" says, for this number of workers. Throws ConfigError. Built when it is called.
std::function<Mixing()> read_mixing(const Place& place, int workers);

}  // namespace paceline
