#include "app/scenario/faults.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/printable.hpp"
#include "app/json/sources.hpp"
#include "app/scenario/sweep.hpp"

namespace paceline {

namespace {

constexpr std::size_t enough_ways = 3;

struct OutOfReadings {};

bool same(const ConfigError& a, const ConfigError& b) {
    return a.file() == b.file() && a.path() == b.path() && a.problem() == b.problem();
}

bool at_or_below(const std::string& place, const std::string& above) {
    return leads_to(above, place);
}

// --- where a fault is ---

// Returns what a place is in: "a.b" and "a[1]" are in "a". A section is in the empty place.
std::string around(const std::string& place) {
    const std::size_t end = place.find_last_of(".[");
    return end == std::string::npos ? std::string() : place.substr(0, end);
}

// Returns the place of the text that names a file, empty if there is none.
std::string place_that_names(const std::string& named, const Json& json, const std::string& file,
                             const std::string& place) {
    if (json.is_string()) {
        const std::string name = beside(file, json.get_ref<const std::string&>());
        return named == name || named.starts_with(name + " ") ? place : std::string();
    }
    if (!json.is_structured()) return {};
    std::size_t index = 0;
    for (const auto& [key, value] : json.items()) {
        const std::string dot = place.empty() ? "" : ".";
        const std::string below =
            json.is_array() ? fmt::format("{}[{}]", place, index++) : place + dot + printable(key);
        std::string found = place_that_names(named, value, file, below);
        if (!found.empty()) return found;
    }
    return {};
}

std::string place_of(const ConfigError& error, const Json& scenario, const std::string& file) {
    if (error.file() != file) return place_that_names(error.file(), scenario, file, "");
    const std::string& missing = error.fault().missing;
    if (missing.empty()) return error.path();
    return error.path().empty() ? missing : error.path() + "." + missing;
}

// --- reading mended copies ---

std::optional<ConfigError> refusal(const Json& scenario, FaultSearch& search) {
    if (search.readings == 0 || std::chrono::steady_clock::now() > search.end)
        throw OutOfReadings();
    --search.readings;
    try {
        search.read(scenario);
    } catch (const ConfigError& error) {
        return error;
    } catch (const std::exception&) {
        throw OutOfReadings();  // too little memory for a copy, say; the fault of the user stands
    }
    return std::nullopt;
}

// Returns whether a mended copy is refused for something else than the place that was mended in it.
bool leads_on(const MendedPlace& place, const Repair& way, const ConfigError& then,
              const std::string& then_place, const FaultSearch& search) {
    if (same(then, *place.fault)) return false;
    for (const MendedPlace& earlier : search.mended)
        if (earlier.fault && same(then, *earlier.fault)) return false;
    if (then.file() != search.file) {
        if (then.file() == place.fault->file()) return false;
        if (way.value && !place_that_names(then.file(), *way.value, search.file, "x").empty())
            return false;
    }
    if (then_place.empty() || place.place.empty()) return true;
    if (!way.name.empty() && at_or_below(then_place, renamed(way)))
        return then_place != renamed(way);
    if (at_or_below(then_place, place.place) || at_or_below(then_place, way.place)) return false;
    if (place.unknown_key()) return true;
    const bool removed = way.value == nullptr && way.name.empty();
    if (removed && !then.fault().missing.empty() && around(then_place) == around(way.place))
        return false;
    return !at_or_below(place.place, then_place);
}

Json mended_copy(const Json& scenario, const std::vector<MendedPlace>& mended) {
    Json copy = scenario;
    for (const MendedPlace& place : mended)
        if (place.way) carry_out(place.ways[*place.way], copy);
    return copy;
}

// Returns whether a way removes an object or a list, or puts one in place of a value.
bool replaces_structure(const Repair& way, const Json& scenario) {
    const Json* const before = value_at(scenario, way.keys);
    if (before == nullptr || !way.name.empty()) return false;
    return way.value == nullptr ? before->is_structured() : way.value->is_structured();
}

// Mends one place after the other, until a copy is read or there is no way on.
void mend(const Json& scenario, FaultSearch& search) {
    Json copy = mended_copy(scenario, search.mended);
    std::optional<ConfigError> error = refusal(copy, search);
    while (error && search.mended.size() < 2 * most_faults) {
        MendedPlace place{.place = place_of(*error, copy, search.file), .fault = error};
        place.ways = ways_to_mend(copy, *error, place.place, error->file() == search.file);
        search.mended.push_back(place);
        MendedPlace& last = search.mended.back();
        for (std::size_t w = 0; w < place.ways.size() && !last.way; ++w) {
            Json other = copy;
            carry_out(place.ways[w], other);
            std::optional<ConfigError> then = refusal(other, search);
            const std::string there = then ? place_of(*then, other, search.file) : "";
            if (then && !leads_on(place, place.ways[w], *then, there, search)) continue;
            last.way = w;
            last.structured = replaces_structure(place.ways[w], copy);
            error = std::move(then);
            copy = std::move(other);
        }
        if (!last.way) return;
    }
}

// --- what only follows ---

// Returns when a section is read; 0 for what is in none of these.
std::size_t turn_of(std::string_view place) {
    static constexpr auto in_turn =
        std::to_array<std::string_view>({"cluster", "workload", "algorithm", "stop"});
    const std::span sections(in_turn);
    const std::string_view section = place.substr(0, place.find('.'));
    const auto found = std::ranges::find(sections, section);
    return found == sections.end() ? 0 : 1 + static_cast<std::size_t>(found - sections.begin());
}

// Returns whether a fault is what a repair has left: what is missing now, or what does not go with
// an object in place of another one, or of another kind.
bool is_left_by(const MendedPlace& earlier, const MendedPlace& later) {
    const Repair& way = earlier.ways[*earlier.way];
    const std::string object = around(way.place);
    const bool missing = !later.fault->fault().missing.empty();
    if (way.value == nullptr && missing && around(later.place) == object)
        return !earlier.unknown_key() || later.fault->fault().missing == earlier.suggestion();
    const bool other_kind =
        way.value && way.keys.back() == "kind" && *way.value != Json(earlier.suggestion());
    const bool beside =
        (other_kind && at_or_below(later.place, object)) ||
        (other_kind && !around(object).empty() && at_or_below(later.place, around(object))) ||
        (earlier.structured && !object.empty() && at_or_below(later.place, object));
    // A number for what is missing there is a guess.
    const bool guessed = !earlier.fault->fault().missing.empty() && way.guessed &&
                         !object.empty() && at_or_below(later.place, object);
    // What a section before this one is refused for now is that it does not go with this one.
    const bool back = (other_kind || earlier.structured) && turn_of(later.place) > 0 &&
                      turn_of(later.place) < turn_of(way.place);
    return beside || guessed || back;
}

bool follows_by_place(const MendedPlace& earlier, const MendedPlace& later) {
    if (earlier.place.empty() || later.place.empty()) return false;
    if (earlier.fault && earlier.way) {
        const Repair& way = earlier.ways[*earlier.way];
        if (!way.name.empty() && at_or_below(later.place, renamed(way)))
            return later.place == renamed(way);
        if (at_or_below(later.place, way.place)) return true;
        if (way.name.empty() && is_left_by(earlier, later)) return true;
    }
    if (at_or_below(later.place, earlier.place)) return true;
    return !earlier.unknown_key() && at_or_below(earlier.place, later.place);
}

// Returns the place before one that its fault follows from, as far as places show.
std::optional<std::size_t> followed_by(std::size_t fault, const std::vector<MendedPlace>& mended) {
    for (std::size_t i = 0; i < fault; ++i)
        if (follows_by_place(mended[i], mended[fault])) return i;
    return std::nullopt;
}

enum class Seen : std::uint8_t { there, gone, hidden };

// Looks for a fault in copies in which the places before it are mended in other ways.
class Recheck {
  public:
    Recheck(const Json& scenario, FaultSearch& search) : scenario_(scenario), search_(search) {}

    // Returns whether a fault is there however the places before it are mended.
    bool stays(std::size_t fault) {
        std::vector<bool> held(fault);
        for (std::size_t turn = 0; turn < enough_ways; ++turn) {
            WayOfEach ways = as_mended(fault);
            std::vector<std::size_t> varied;
            for (std::size_t i = 0; i < fault; ++i) {
                const std::vector<std::size_t>& known = search_.mended[i].telling_ways;
                if (turn >= known.size() || covers(i, known[turn], fault)) continue;
                ways[i] = known[turn];
                varied.push_back(i);
            }
            if (varied.empty()) break;
            const Seen now = look_for(fault, ways);
            if (now == Seen::gone) return false;
            for (const std::size_t i : varied) held[i] = held[i] || now == Seen::there;
        }
        for (std::size_t i = 0; i < fault; ++i)
            if (may_be_meant(i, fault) || (!held[i] && !stays_beside(i, fault))) return false;
        return true;
    }

  private:
    using WayOfEach = std::vector<std::optional<std::size_t>>;

    [[nodiscard]] WayOfEach as_mended(std::size_t fault) const {
        WayOfEach ways;
        for (std::size_t i = 0; i < fault; ++i) ways.push_back(search_.mended[i].way);
        return ways;
    }

    // Returns whether a way to mend a place replaces that of the fault, too.
    [[nodiscard]] bool covers(std::size_t place, std::size_t way, std::size_t fault) const {
        return at_or_below(search_.mended[fault].place, search_.mended[place].ways[way].place);
    }

    // Returns whether an unknown key may be meant to be one that is missing beside it, which it is
    // if its value could stand there.
    bool may_be_meant(std::size_t place, std::size_t fault) {
        const MendedPlace& mended = search_.mended[place];
        const MendedPlace& lacking = search_.mended[fault];
        const std::string& missing = lacking.fault->fault().missing;
        if (!mended.unknown_key() || missing.empty()) return false;
        if (around(mended.place) != around(lacking.place)) return false;
        if (mended.way != mended.ways.size() - 1) return false;  // it was renamed
        const Repair& removal = mended.ways.back();
        Json copy = scenario_;
        for (std::size_t i = 0; i < fault; ++i)
            if (i != place && search_.mended[i].way)
                carry_out(search_.mended[i].ways[*search_.mended[i].way], copy);
        carry_out({removal.place, removal.keys, nullptr, missing}, copy);
        const std::optional<ConfigError> then = refusal(copy, search_);
        return !then || !at_or_below(place_of(*then, copy, search_.file), lacking.place) ||
               value_at(scenario_, removal.keys) == nullptr;
    }

    // Returns whether a fault is there however one place is mended.
    bool stays_beside(std::size_t place, std::size_t fault) {
        MendedPlace& mended = search_.mended[place];
        std::string widest = mended.way ? mended.ways[*mended.way].place : mended.place;
        std::size_t seen = 0;
        for (std::size_t way = 0; way < mended.ways.size() && seen < enough_ways; ++way) {
            if (seen > 0 && at_or_below(widest, mended.ways[way].place) &&
                widest != mended.ways[way].place)
                break;
            if (way == mended.way || covers(place, way, fault)) continue;
            const Seen now = look_for(fault, place, way);
            if (now == Seen::hidden) continue;
            if (std::ranges::find(mended.telling_ways, way) == mended.telling_ways.end())
                mended.telling_ways.push_back(way);
            if (now == Seen::gone) return false;
            ++seen;
            if (at_or_below(widest, mended.ways[way].place)) widest = mended.ways[way].place;
        }
        return seen > 0 || mended.unknown_key();
    }

    // Looks for a fault with one place mended in another way, and first without what was only
    // mended because of the way that was taken.
    Seen look_for(std::size_t fault, std::size_t place, std::size_t way) {
        WayOfEach ways = as_mended(fault);
        ways[place] = way;
        const WayOfEach all = ways;
        for (std::size_t i = place + 1; i < fault; ++i)
            if (search_.mended[i].follows == place) ways[i].reset();
        const Seen now = look_for(fault, ways);
        return now == Seen::hidden && ways != all ? look_for(fault, all) : now;
    }

    Seen look_for(std::size_t fault, const WayOfEach& ways) {
        Json copy = scenario_;
        for (std::size_t i = 0; i < ways.size(); ++i)
            if (ways[i]) carry_out(search_.mended[i].ways[*ways[i]], copy);
        const std::optional<ConfigError> now = refusal(copy, search_);
        const ConfigError& sought = *search_.mended[fault].fault;
        if (!now) return Seen::gone;
        if (same(*now, sought)) return Seen::there;
        if (place_of(*now, copy, search_.file) == search_.mended[fault].place) return Seen::gone;
        for (std::size_t i = fault + 1; i < search_.mended.size(); ++i)
            if (same(*now, *search_.mended[i].fault)) return Seen::gone;
        return Seen::hidden;
    }

    const Json& scenario_;
    FaultSearch& search_;
};

// Returns whether a scenario has a place, which is cut if it is long.
bool is_in(const Json& scenario, const std::string& path) {
    constexpr std::size_t longest = 100;
    return path.size() >= longest || trail_of(scenario, path).complete;
}

// Returns a fault at its place as the user wrote it, where keys were renamed to get there.
ConfigError as_written(const ConfigError& fault, const FaultSearch& search) {
    if (fault.file() != search.file) return fault;
    std::string path = fault.path();
    for (const MendedPlace& place : search.mended) {
        if (!place.way || place.ways[*place.way].name.empty()) continue;
        const std::string there = renamed(place.ways[*place.way]);
        if (path.starts_with(there) && at_or_below(path, there))
            path = place.place + path.substr(there.size());
    }
    return {fault.file(), path, fault.fault()};
}

}  // namespace

void put_in_doubt(FaultSearch& search, const Doubt& doubt) {
    MendedPlace place{.place = doubt.place};
    if (doubt.unknown) {
        place.fault =
            ConfigError(search.file, doubt.place, Fault{.problem = {}, .unknown_key = true});
        place.ways.push_back({doubt.place, {doubt.place}, nullptr});
        place.way = 0;
    } else {
        place.ways = stand_ins_at(doubt.place);
    }
    search.mended.push_back(std::move(place));
}

std::vector<ConfigError> find_faults(const Json& scenario, FaultSearch& search) {
    const std::size_t before = search.mended.size();
    try {
        mend(scenario, search);
    } catch (const OutOfReadings&) {
        search.readings = 0;  // what has been found is judged without more
    }
    std::vector<ConfigError> faults;
    Recheck recheck(scenario, search);
    for (std::size_t i = before; i < search.mended.size(); ++i) {
        search.mended[i].follows = followed_by(i, search.mended);
        try {
            if (search.mended[i].follows || !recheck.stays(i)) continue;
            ConfigError fault = as_written(*search.mended[i].fault, search);
            const bool written = fault.file() != search.file || is_in(scenario, fault.path());
            if (i == 0 || written) faults.push_back(std::move(fault));
        } catch (const OutOfReadings&) {
            break;
        }
    }
    return faults;
}

}  // namespace paceline
