// All faults of a scenario at once, though its readers stop at the first.
//
// Readers (app/json/object_reader.hpp) throw a ConfigError at the first fault. What is here finds
// the others from outside of them, by repair and re-reading: it mends a copy of the scenario at the
// place of the fault and reads the copy; what that is refused for is the next fault, until a copy
// is read. It knows neither keys nor kinds, only places, and two small scenarios that are valid.
//
// A place is mended in the first of these ways with which the copy is refused elsewhere:
//
//   the key or the name that the message suggests
//   the value at the same place of a small valid scenario, or of another one that is as different
//     as possible (4 nodes, 64 nodes)
//   no value: the key goes
//   another element of the same list
//   a plain value: 1, 0.5, true, "1ms", "1MB", "1Gbps", "x"
//   the same for the object around it, up to the whole section ("cluster", "workload", ...)
//
// A key that is missing is a fault at its own place. A fault in a file that the scenario names is one
// at the place that names the file, so there is one fault for each file.
//
// Nothing is reported that only follows from another fault. A fault after the first counts only
//
//   - if it lies neither at, above nor below a place that was mended before. An unknown key is an
//     exception, as nothing above it can depend on it; but a key that is missing beside an unknown
//     one may be what that was meant to be. Below a key that was renamed, faults count.
//   - and if it is there in the same words however the earlier places are mended: with all other
//     places mended, it is held against up to three other ways for each of the earlier ones, first
//     for all of them together and, where that says nothing, for each alone.
//
// So a fault may stay unsaid until an earlier one is mended, but none is invented. The search ends
// after so many readings or seconds, and after 20 faults; what has not been held against other
// repairs by then is not reported.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
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
};

/// A place that has a fault, and how a copy of the scenario is mended there.
struct MendedPlace {
    std::string place;                   // empty: it is not known
    std::optional<ConfigError> fault{};  // nothing: the place is in doubt for another reason
    std::vector<Repair> ways{};
    std::optional<std::size_t> way{};  // nothing: it stays as it is
    bool structured = false;           // whether an object or a list stood where that changed
    std::vector<std::size_t> telling_ways{};  // other ways with which later faults could be seen

    [[nodiscard]] bool unknown_key() const { return fault && fault->fault().unknown_key; }
    [[nodiscard]] std::string suggestion() const {
        return fault ? fault->fault().suggestion : std::string();
    }
};

/// What a search for faults needs, and what it has mended so far.
struct FaultSearch {
    std::string file;                                // the scenario's name
    std::function<void(const Json& scenario)> read;  // throws ConfigError
    int readings = 400;                              // that are left
    std::chrono::steady_clock::time_point end =
        std::chrono::steady_clock::now() + std::chrono::seconds(2);
    std::vector<MendedPlace> mended{};
};

inline constexpr std::size_t most_faults = 20;

/// A place at which the user wanted something that is not there.
struct Doubt {
    std::string place;
    bool unknown = false;  // whether no scenario can have it
};

/// Keeps faults from being reported that may follow from a doubt: those at, above or below its place,
/// and those that depend on what stands there. If the place is unknown, those are keys that are missing
/// beside it.
void put_in_doubt(FaultSearch& search, const Doubt& doubt);

/// Returns the faults of a scenario, in the order in which they are read, and adds them to what has
/// been mended. The first is that of the readers unless something has been mended or is in doubt.
/// What has been mended before is mended here, too, and its faults are not reported again.
std::vector<ConfigError> find_faults(const Json& scenario, FaultSearch& search);

}  // namespace paceline
