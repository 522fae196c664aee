// All faults of a scenario at once, though its readers stop at the first.
//
// Readers (app/json/object_reader.hpp) throw a ConfigError at the first fault. What is here finds
// the others from outside of them, by repair and re-reading: it mends a copy of the scenario at the
// place of the fault and reads the copy; what that is refused for is the next fault, until a copy
// is read. It knows places and some small scenarios that are valid, and of keys only that a "kind"
// says what an object is.
//
// A place is mended in the first of several ways (repairs.hpp) with which the copy is refused
// elsewhere.
//
// A key that is missing is a fault at its own place. A fault in a file that the scenario names is
// one at the place that names the file, so there is one fault for each file.
//
// Nothing is reported that only follows from another fault. A fault after the first counts only
//
//   - if it lies neither at, above nor below a place that was mended before. Above a key that is
//     unknown, and below one that got another name, faults count.
//   - if it cannot be what a repair has left: a key that is missing where one was removed, what
//     stands beside an object that another one has replaced, and what goes with another kind.
//   - if it is there in the same words however the earlier places are mended: it is held against
//     other ways for each of them, up to three with which it could be seen, and against one at
//     least. (An unknown key may have no other way.) The small scenarios differ wherever they can,
//     so that a fault that depends on the mended place is gone with one of them.
//
// So a fault may stay unsaid until an earlier one is mended, but hardly any is invented. The search
// ends after so many readings or seconds, and after 20 faults; what has not been held against other
// repairs by then is not reported.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/scenario/repairs.hpp"

namespace paceline {

/// A place that has a fault, and how a copy of the scenario is mended there.
struct MendedPlace {
    std::string place;                   // empty: it is not known
    std::optional<ConfigError> fault{};  // nothing: the place is in doubt for another reason
    std::vector<Repair> ways{};
    std::optional<std::size_t> way{};      // nothing: it stays as it is
    bool structured = false;               // whether an object or a list stood where that changed
    std::optional<std::size_t> follows{};  // the place before this one that its fault is due to
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

/// Keeps faults from being reported that may follow from a doubt: those at, above or below its
/// place, and those that depend on what stands there. If the place is unknown, those are keys that
/// are missing beside it.
void put_in_doubt(FaultSearch& search, const Doubt& doubt);

/// Returns the faults of a scenario, in the order in which they are read, and adds them to what has
/// been mended. The first is that of the readers unless something has been mended or is in doubt.
/// What has been mended before is mended here, too, and its faults are not reported again.
std::vector<ConfigError> find_faults(const Json& scenario, FaultSearch& search);

}  // namespace paceline
