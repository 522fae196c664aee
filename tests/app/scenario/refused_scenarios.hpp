// The refused scenarios of tests/refusals. Each <topic>.json there is a table:
//
//   {
//     "base": {"cluster": {...}, "workload": {...}, ...},
//     "cases": [
//       {"name": "nodes-0", "change": {"cluster": {"nodes": 0}}, "at": "cluster.nodes",
//        "says": "is not a whole number from 1"},
//       ...
//     ]
//   }
//
//   base             a scenario that is accepted. A table with several has "bases", by name, and
//                    each case names its own: "on": "machines".
//   name             unlike any other, also of other tables
//   change           what makes the base wrong, as a JSON merge patch (RFC 7396): an object is
//                    merged, null deletes a key, and anything else, lists included, is put in place
//   at               the path of the fault; empty where there is none
//   in               the file that holds the fault, where it is not the scenario
//   says             a part of the message
//   valid_by_schema  true where the schema sees no fault: it lies in the values of a sweep, in
//                    another file, in a number's range that no pattern can tell, or in what several
//                    values mean together
//
// Some cases have another key in place of "change":
//
//   scenario         the whole scenario, which a merge patch does not make: a value in it is null,
//                    it is no object, or its keys stand in another order
//   text             the whole text, which is no JSON, or would not be the same if written again
//   replace, by      the text in place of a piece of "base_text", in which it occurs once
//
// A text is a string, or a list of pieces: strings, {"repeat": "x", "times": 5000}, the numbers of
// {"from": 1, "to": 60} with commas between them, and the bytes of {"hex": "fffe"}.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace paceline {

struct RefusedScenario {
    std::string table;  // its file, without ".json"
    std::string name;
    std::string file;  // a name for errors, in tests/refusals, where the files that it names are
    std::string text;
    std::string at;
    std::string in;
    std::string says;
    bool valid_by_schema = false;
};

/// A scenario that cases change. It is accepted.
struct BaseScenario {
    std::string file;
    std::string text;
};

/// Returns the cases of all tables in the source tree at `root`, in the order of files with their
/// names. Throws std::runtime_error, or an error of JSON, if a table is not as above.
std::vector<RefusedScenario> refused_scenarios(const std::filesystem::path& root);

/// Returns the bases of all tables.
std::vector<BaseScenario> bases_of_refused_scenarios(const std::filesystem::path& root);

}  // namespace paceline
