// Random scenarios that are valid by the schema and small enough to run in milliseconds.
//
// The generator walks scenario.schema.json. Required keys always appear; optional ones appear with
// a probability that differs between scenarios. It picks one of the alternatives, and numbers
// within their bounds. Tables of rules here cover what a schema cannot express (the extents of a
// torus multiply to the number of nodes, "share" belongs to "partly-shuffled"), so that most
// scenarios are accepted. The same seed gives the same scenario, byte for byte.
//
// The files that scenarios name (data, traces, a profile) are small and always the same:
// write_companions() puts them next to the scenario.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "app/json/json_file.hpp"

namespace paceline {

/// What varies most. `network`: fabrics and routes, collectives and mixings, and what disturbs
/// them. Every fabric is as likely as another, latencies are up to 10 ms, and hardly anything
/// trains.
enum class Emphasis : std::uint8_t { everything, network };

Json random_scenario(std::uint64_t seed, Emphasis emphasis = Emphasis::everything);

/// Any fabric of that many nodes.
Json random_fabric(int nodes, std::uint64_t seed);

/// Whether each node of such a fabric has a link of its own, which "access" can change.
bool has_access_links(std::string_view fabric);

/// What the options of a random algorithm depend on.
struct RandomAlgorithm {
    std::string_view kind;
    int nodes = 1;
    int devices_per_node = 1;  // which may be islands
    bool trains = false;
    std::string_view fabric = "star";
    Emphasis emphasis = Emphasis::everything;
};

/// An algorithm's object. If the algorithm cannot train and should, it is another one.
Json random_algorithm(const RandomAlgorithm& what, std::uint64_t seed);

/// Names and contents of the files that random scenarios may name.
std::map<std::string, std::string> companions();

void write_companions(const std::filesystem::path& folder);

/// Everything in the schema that a scenario can contain: "cluster.access" for a key of the object
/// that is defined as "cluster", "cluster.access=..." for each value of an enumeration.
std::set<std::string> schema_nodes();

/// The schema_nodes() that a scenario contains.
std::set<std::string> schema_nodes_of(const Json& scenario);

}  // namespace paceline
