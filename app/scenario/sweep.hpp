// The "sweep" of a scenario: which values its axes take, and which of them a point has.
//
//   {"cluster.nodes": [1, 2, 4], "algorithm": [{"kind": "dense"}, {"kind": "dgc"}]}
//
// is six points: every combination, the last axis fastest. Axes inside "zip" advance together:
//
//   {"zip": {"cluster.nodes": [1, 2, 4], "workload.batch": [256, 128, 64]}, "seed": [1, 2]}
//
// is six points as well, three times two. "zip" may be a list of such objects. An axis is a path
// that the schema knows; elements of lists are named by their index, as in
// "cluster.fabric.other_links.0.link". A value replaces what is at the path.
//
// The command line changes axes in two ways. `--set path=[...]` gives an axis other values; if the
// values of the axis are lists themselves, this takes a list of lists. Any other setting of a path
// removes the axes at and below it. `--pick axis=label` keeps the values of an axis that have one
// of the labels; picks come before settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/json_file.hpp"
#include "app/scenario/axis.hpp"

namespace paceline {

using JsonPtr = std::shared_ptr<const Json>;

inline constexpr std::string_view command_line = "command line";

/// A change of the scenario: `--set path=value`.
struct Setting {
    std::string path;
    JsonPtr value;
};

/// An axis with the values that its names stand for.
struct SweptAxis {
    Axis axis;
    std::vector<JsonPtr> values;
    std::string file;       // where the values are written: the scenario, or the command line
    std::string shown;      // the axis there, for errors
    std::size_t group = 0;  // axes of one group advance together
};

struct Sweep {
    std::vector<SweptAxis> axes;
    std::vector<std::size_t> lengths;  // values of each group

    /// Returns the axes as results show them.
    [[nodiscard]] std::vector<Axis> shown_axes() const;
    /// Returns the number of points. Throws ConfigError if they are more than `most_points`.
    [[nodiscard]] std::size_t points(const std::string& file) const;
    /// Returns the index of each axis' value in a point.
    [[nodiscard]] std::vector<std::size_t> choice(std::size_t point) const;
};

inline constexpr std::size_t most_points = 1'000'000;

/// Returns whether `path` is `axis` or lies below it. Elements of a list may be written ".0" or
/// "[0]".
bool leads_to(std::string_view axis, std::string_view path);

/// Returns what follows `axis` in `path`. Requires that it leads there.
std::string_view rest_below(std::string_view axis, std::string_view path);

/// Whose options a path of a scenario may name, besides what is in the schema: with those of parts
/// of one's own (own_parts.hpp), any key of an algorithm, codec, mixing or model. The points'
/// reader then knows better.
enum class KnownOptions : std::uint8_t { of_the_table, of_own_methods };

/// Reads "path=value". A value that is not JSON is taken as a string. Throws ConfigError.
Setting read_setting(const std::string& text, KnownOptions options);

/// Reads the axes of a scenario whose name is `file`. Throws ConfigError.
Sweep read_sweep(const Json& scenario, const std::string& file, KnownOptions options);

/// Applies a setting to the axes. Returns whether it only gave an axis other values, so that it
/// does not set the path itself. Throws ConfigError.
bool apply_to_axes(const Setting& setting, Sweep& sweep);

/// Keeps the values with the labels that `picks` name, as "axis=label". An axis may be named by the
/// end of its path, if only one has it; several labels of one axis keep several values. Throws
/// ConfigError.
void pick(const std::vector<std::string>& picks, Sweep& sweep);

}  // namespace paceline
