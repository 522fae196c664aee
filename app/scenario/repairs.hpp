// Ways to mend a scenario at the place of a fault, so that it can be read on (faults.hpp).
//
// A place is mended in the first of these ways with which the copy is refused elsewhere:
//
//   the key or the name that the message suggests; an unknown key else goes
//   the value at the same place of some small scenarios that are valid
//   a plain value: 1, 2, 0.5, true, "1ms", "1MB", "1Gbps", "x"
//   no value: the key goes; or another element of the same list
//   the same for the object around it, up to the whole section ("cluster", "workload", ...)
//
// The small scenarios differ wherever they can, so that hardly any fault that depends on something
// is there with all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"

namespace paceline {

/// One way to mend a scenario at one place.
struct Repair {
    std::string place;                  // as errors name it
    std::vector<std::string> keys;      // that lead there; elements of lists by their index
    std::shared_ptr<const Json> value;  // null: the key goes, or gets another name
    std::string name{};                 // the other name
    bool guessed = false;               // whether the value is one of the plain ones
};

/// The place of an error within a scenario, as far as the scenario leads there.
struct Trail {
    std::vector<std::string> keys;
    std::vector<std::string> places;  // of each key, as errors name it
    bool complete = false;
};
Trail trail_of(const Json& scenario, const std::string& path);

/// Returns the value that keys lead to; null if there is none.
const Json* value_at(const Json& json, const std::vector<std::string>& keys);

/// Returns the ways to mend a fault, the narrowest first. An empty place is one that is not known.
std::vector<Repair> ways_to_mend(const Json& scenario, const ConfigError& fault,
                                 const std::string& place, bool in_the_scenario);
/// Returns the ways to put a place at the values that it has in small scenarios.
std::vector<Repair> stand_ins_at(const std::string& place);

void carry_out(const Repair& repair, Json& scenario);

/// Returns where a key would be that a repair gives another name.
std::string renamed(const Repair& repair);

}  // namespace paceline
