// "cluster": {"testbed": "mine.json"}: the cluster of a file that `paceline calibrate` has written.
//
// A testbed is a JSON object. Of its keys, a scenario takes
//
//   cluster    the machines and the wires, with the constants that were fitted
//   workload   constants of the workload that were fitted, such as an efficiency; may be missing
//
//   draws      other constants that the measurements allow: objects of paths and values; may be
//              missing
//
// and what else it holds says where these are from (app/questions/calibrate/testbed_json.hpp). What
// the scenario says itself goes before: objects are merged key by key, as in RFC 7386 (JSON Merge
// Patch), where null takes a key of the testbed away. "nodes" and "devices" of the scenario replace
// whichever of the two the testbed has. Sweeps and settings change the scenario before it is
// merged, so they may go below keys that only the testbed has.
// What a point is, as JSON, has all this merged, and names no testbed.
//
// The draws become those of the scenario's "measure", so that results have intervals, unless it says
// "interval": false. A constant that the scenario states itself is not drawn.
//
// Files that the testbed's cluster names are looked for beside the scenario.
#pragma once

#include <memory>
#include <string>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/json/sources.hpp"

namespace paceline {

/// A scenario's testbed.
struct Testbed {
    std::string file;
    std::shared_ptr<const Json> content;  // an object with a "cluster"
};

/// Returns the testbed that the cluster of a point names, or null. `scenario` is the name of the
/// point's file. Throws ConfigError.
std::shared_ptr<const Testbed> testbed_of(const Json& point, const std::string& scenario,
                                          const Sources& sources);

/// Returns the point merged into what its testbed says. Requires that it names this one.
Json on_testbed(const Testbed& testbed, const Json& point);

/// Returns the point merged into its testbed, if it names one, else the point. Throws ConfigError.
Json on_its_testbed(Json point, const std::string& scenario, const Sources& sources);

/// Returns an error of the merged point at its place: in the testbed, if only that has what is
/// wrong.
ConfigError at_its_place(const ConfigError& error, const Testbed& testbed, const Json& point,
                         const std::string& scenario);

}  // namespace paceline
