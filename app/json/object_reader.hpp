// Reads one JSON object by key, and refuses unknown keys.
//
// The reader is constructed with the known keys, from a definition of the schema (schema.hpp) or
// from a table that a test compares with the schema. It refuses unknown keys at once and suggests
// the nearest known one. Every error names file and path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/json/sources.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

using Keys = std::span<const std::string_view>;

/// A JSON value and its location.
struct Place {
    const Json* json;
    const std::string* file;
    std::string path;
    const Sources* sources = nullptr;  // of the files that it may name; null: it names none

    [[nodiscard]] Place child(std::string_view key, const Json& value) const;
    /// Returns element i of a list. Requires that the list has one.
    [[nodiscard]] Place element(std::size_t i) const;
    /// Requires that there are sources: the value is part of what a user wrote.
    [[nodiscard]] const Sources& outside() const;
    /// Throws ConfigError. The value here is part of the fault, unless it is large.
    [[noreturn]] void refuse(Fault fault) const;
    [[noreturn]] void refuse(std::string problem) const { refuse(Fault{std::move(problem)}); }
};

/// One spelling of an enumerated value.
template <class T>
struct Spelling {
    std::string_view name;
    T value;
};

class ObjectReader {
  public:
    /// Throws ConfigError unless `place` is an object all of whose keys are known.
    ObjectReader(Place place, Keys known);

    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    /// Throws if the key is missing; the message says what it is for.
    [[nodiscard]] Place required(std::string_view key, std::string_view what) const;
    [[nodiscard]] std::optional<Place> optional(std::string_view key) const;
    [[nodiscard]] const Place& place() const { return place_; }

    /// Throws if both keys are present.
    void not_both(std::string_view first, std::string_view second) const;

  private:
    [[nodiscard]] const Json* find(std::string_view key) const;

    Place place_;
    Keys known_;
};

// Conversions of a value to the expected type. Each throws ConfigError if the value does not fit.
std::string as_string(const Place& place);
/// Returns the name of a file, which is given relative to the folder of the file it stands in.
std::string as_file(const Place& place);
bool as_bool(const Place& place);
/// Returns the whole number that a JSON value is, however it is written: 32, 32.0, 3.2e1.
std::optional<std::int64_t> whole_number(const Json& json);
/// Returns a whole number in [least, most].
std::int64_t as_integer(const Place& place, std::int64_t least, std::int64_t most);
/// Returns a finite number in (above, most].
double as_number_above(const Place& place, double above, double most);
/// Returns a number in [0, most].
double as_number_up_to(const Place& place, double most);
/// Returns a number in [0, 1).
double as_share(const Place& place);
Duration as_duration(const Place& place);
/// Returns a duration above zero.
Duration as_time(const Place& place);
Bytes as_bytes(const Place& place);
/// Returns a bandwidth above zero.
Bandwidth as_bandwidth(const Place& place);
Bandwidth as_bandwidth_or_zero(const Place& place);

/// Returns the index of the string among the names. `what` says what is named ("a fabric").
std::size_t as_name(const Place& place, std::string_view what,
                    std::span<const std::string_view> names);

/// Returns the "kind" of an object that has several kinds.
Place kind_of(const Place& place, std::string_view what, std::span<const std::string_view> names);

template <class T, std::size_t N>
T as_choice(const Place& place, std::string_view what,
            const std::array<Spelling<T>, N>& spellings) {
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) names[i] = spellings[i].name;
    return spellings[as_name(place, what, names)].value;
}

}  // namespace paceline
