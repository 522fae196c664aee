// Random scenarios that the schema calls valid, small enough to run in milliseconds.
//
// The generator walks scenario.schema.json: keys that are required always, optional ones with a
// probability that differs from scenario to scenario, one of the alternatives, numbers between their
// bounds. What a schema cannot say (the extents of a torus multiply to the number of nodes, "share"
// is for "partly-shuffled") stands in tables of rules here, so that most scenarios are read. The same
// seed gives the same scenario, byte by byte.
//
// Files that scenarios name (data, traces, a profile) are small and always the same:
// write_companions() puts them beside the scenario.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "app/json/json_file.hpp"

namespace paceline {

Json random_scenario(std::uint64_t seed);

/// Name and content of the files that random scenarios may name.
std::map<std::string, std::string> companions();

void write_companions(const std::filesystem::path& folder);

/// What there is in the schema that a scenario can have: "cluster.access" for a key of the object
/// that is defined as "cluster", "cluster.access=..." for each value that an enumeration allows.
std::set<std::string> schema_nodes();

/// Those of them that a scenario has.
std::set<std::string> schema_nodes_of(const Json& scenario);

}  // namespace paceline
