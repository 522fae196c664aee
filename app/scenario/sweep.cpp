#include "app/scenario/sweep.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/names.hpp"
#include "app/json/object_reader.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/words.hpp"

namespace paceline {

namespace {

[[noreturn]] void refuse_sweep(std::string_view file, const std::string& path, Fault fault) {
    throw ConfigError(std::string(file), path, std::move(fault));
}

[[noreturn]] void refuse_sweep(std::string_view file, const std::string& path,
                               std::string problem) {
    refuse_sweep(file, path, Fault{std::move(problem)});
}

bool is_list_of_objects(const Json& value) {
    return value.is_array() && std::ranges::all_of(value, &Json::is_object);
}

std::string name_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (is_list_of_objects(value)) {
        std::string names;
        for (const Json& one : value) names += (names.empty() ? "" : "+") + name_of(one);
        return names.empty() ? "none" : names;
    }
    if (!value.is_object()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    for (const char* key : {"label", "kind", "preset"})
        if (const auto found = value.find(key); found != value.end() && found->is_string())
            return found->get<std::string>();
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Fault fault_of_path(const std::string& path, KnownOptions options) {
    Fault fault = path_fault(path_in_todays_words(path));
    if (fault.problem.empty() || options == KnownOptions::of_the_table) return fault;
    const std::size_t key = path.rfind('.');
    if (key == std::string::npos) return fault;
    constexpr auto parts =
        std::to_array<std::string_view>({"algorithm", "codec", "mixing", "model"});
    const auto parent = split_path(path.substr(0, key)).back();
    const bool of_part = std::ranges::any_of(parts, [&](auto part) { return part == parent; });
    return of_part ? Fault{} : fault;
}

// `shown` is the axis as the user wrote it in `file`.
SweptAxis read_axis(const std::string& path, const Json& values, const std::string& file,
                    const std::string& shown, KnownOptions options) {
    if (path == "title")
        refuse_sweep(file, shown, "applies to the whole study and cannot be swept");
    if (path == "sweep") refuse_sweep(file, shown, "a sweep cannot be swept");
    if (Fault fault = fault_of_path(path, options); !fault.problem.empty())
        refuse_sweep(file, shown, std::move(fault));
    if (!values.is_array()) refuse_sweep(file, shown, "is not a list of values; write [...]");
    if (values.empty()) refuse_sweep(file, shown, "is empty; give at least one value");
    SweptAxis swept{{path, {}}, {}, file, shown, 0};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].is_object() && values[i].contains("label"))
            as_string({&values[i].at("label"), &file, fmt::format("{}[{}].label", shown, i)});
        swept.values.push_back(std::make_shared<const Json>(values[i]));
        swept.axis.names.push_back(name_of(values[i]));
    }
    return swept;
}

// Requires that the axes of a group are of one length. Their values, taken together, are distinct.
void check_distinct(std::span<const SweptAxis> group) {
    std::set<std::vector<std::string_view>> seen;
    for (std::size_t i = 0; i < group.front().values.size(); ++i) {
        std::vector<std::string_view> names;
        for (const SweptAxis& swept : group) names.emplace_back(swept.axis.names[i]);
        if (seen.insert(names).second) continue;
        refuse_sweep(group.front().file, fmt::format("{}[{}]", group.front().shown, i),
                     fmt::format("\"{}\" occurs twice {}; remove one, or give each object its own "
                                 "\"label\"",
                                 fmt::join(names, ", "),
                                 group.size() == 1 ? "on this axis" : "in this zip"));
    }
}

void add_group(std::vector<SweptAxis> group, Sweep& sweep) {
    const SweptAxis& first = group.front();
    for (SweptAxis& swept : group) {
        if (swept.values.size() != first.values.size())
            refuse_sweep(
                swept.file, swept.shown,
                fmt::format("has {} values and \"{}\" has {}; axes of a zip need the same number",
                            swept.values.size(), first.axis.path, first.values.size()));
        swept.group = sweep.lengths.size();
    }
    check_distinct(group);
    sweep.lengths.push_back(first.values.size());
    std::ranges::move(group, std::back_inserter(sweep.axes));
}

void add_zip(const Json& zip, const std::string& file, const std::string& shown,
             KnownOptions options, Sweep& sweep) {
    if (!zip.is_object() || zip.empty())
        refuse_sweep(file, shown,
                     "is not an object of axes that advance together, such as {\"cluster.nodes\": "
                     "[1, 2], \"workload.batch\": [64, 32]}");
    std::vector<SweptAxis> group;
    for (const auto& [path, values] : zip.items())
        group.push_back(read_axis(path, values, file, fmt::format("{}.{}", shown, path), options));
    add_group(std::move(group), sweep);
}

void add_zips(const Json& zips, const std::string& file, KnownOptions options, Sweep& sweep) {
    if (!zips.is_array()) return add_zip(zips, file, "sweep.zip", options, sweep);
    for (std::size_t i = 0; i < zips.size(); ++i)
        add_zip(zips[i], file, fmt::format("sweep.zip[{}]", i), options, sweep);
}

// Writes elements of lists as keys: "a[0].b" becomes "a.0.b".
std::string dotted(std::string_view path) {
    std::string text;
    for (const char c : path)
        if (c == '[')
            text += '.';
        else if (c != ']')
            text += c;
    return text;
}

void check_unique_paths(const Sweep& sweep) {
    std::set<std::string> seen;
    for (const SweptAxis& swept : sweep.axes)
        if (!seen.insert(dotted(swept.axis.path)).second)
            refuse_sweep(swept.file, swept.shown, "is swept twice; keep one of the axes");
}

// Groups that have lost all their axes vanish.
void renumber_groups(Sweep& sweep) {
    std::map<std::size_t, std::size_t> number;
    std::vector<std::size_t> lengths;
    for (SweptAxis& swept : sweep.axes) {
        const auto [found, is_new] = number.try_emplace(swept.group, lengths.size());
        if (is_new) lengths.push_back(swept.values.size());
        swept.group = found->second;
    }
    sweep.lengths = std::move(lengths);
}

std::vector<SweptAxis> of_group(const Sweep& sweep, std::size_t group) {
    std::vector<SweptAxis> axes;
    for (const SweptAxis& swept : sweep.axes)
        if (swept.group == group) axes.push_back(swept);
    return axes;
}

// Returns whether a setting's value is a list of values for the axis rather than one value of it.
bool lists_values(const Json& value, const SweptAxis& swept) {
    if (!value.is_array()) return false;
    if (!std::ranges::all_of(swept.values, [](const JsonPtr& one) { return one->is_array(); }))
        return true;
    return !value.empty() && std::ranges::all_of(value, &Json::is_array);
}

void replace_values(const Setting& setting, SweptAxis& swept, Sweep& sweep) {
    SweptAxis other =
        read_axis(swept.axis.path, *setting.value, std::string(command_line),
                  "--set " + setting.path, KnownOptions::of_own_methods);  // its path was accepted
    other.group = swept.group;
    const std::size_t length = sweep.lengths[swept.group];
    const bool alone = of_group(sweep, swept.group).size() == 1;
    if (!alone && other.values.size() != length)
        refuse_sweep(command_line, "--set " + setting.path,
                     fmt::format("has {} values, and the axis advances with others that have {}",
                                 other.values.size(), length));
    swept = std::move(other);
    sweep.lengths[swept.group] = swept.values.size();
    check_distinct(of_group(sweep, swept.group));
}

struct Pick {
    std::string text;
    std::string axis;
    std::string label;
};

Pick read_pick(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        refuse_sweep(command_line, "--pick",
                     fmt::format("\"{}\" is not axis=label, such as algorithm=dgc", text));
    return {text, text.substr(0, equals), text.substr(equals + 1)};
}

std::size_t axis_meant(const Pick& pick, const Sweep& sweep) {
    std::vector<std::string_view> paths;
    std::vector<std::size_t> ends;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
        const std::string& path = sweep.axes[a].axis.path;
        if (path == pick.axis) return a;
        if (path.ends_with("." + pick.axis)) ends.push_back(a);
        paths.emplace_back(path);
    }
    if (ends.size() == 1) return ends.front();
    if (paths.empty())
        refuse_sweep(command_line, "--pick " + pick.text, "the scenario has no axis to pick from");
    refuse_sweep(command_line, "--pick " + pick.text,
                 ends.empty() ? unknown(pick.axis, "an axis of the sweep", paths)
                              : Fault{fmt::format(
                                    "\"{}\" is the end of {} axes' paths; write the whole path",
                                    pick.axis, ends.size())});
}

// Keeps the values at these places of all axes of a group.
void keep(const std::vector<bool>& kept, std::size_t group, Sweep& sweep) {
    for (SweptAxis& swept : sweep.axes) {
        if (swept.group != group) continue;
        std::vector<JsonPtr> values;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (!kept[i]) continue;
            values.push_back(std::move(swept.values[i]));
            names.push_back(std::move(swept.axis.names[i]));
        }
        swept.values = std::move(values);
        swept.axis.names = std::move(names);
        sweep.lengths[group] = swept.values.size();
    }
}

}  // namespace

std::vector<Axis> Sweep::shown_axes() const {
    std::vector<Axis> shown;
    for (const SweptAxis& swept : axes) {
        Axis& axis = shown.emplace_back(swept.axis);
        if (of_group(*this, swept.group).size() > 1) axis.zip = swept.group;
    }
    return shown;
}

std::size_t Sweep::points(const std::string& file) const {
    std::size_t product = 1;
    for (const std::size_t length : lengths)
        if (__builtin_mul_overflow(product, length, &product) || product > most_points)
            refuse_sweep(file, "sweep",
                         fmt::format("the axes multiply to more than {} points; split the study",
                                     most_points));
    return product;
}

std::vector<std::size_t> Sweep::choice(std::size_t point) const {
    std::vector<std::size_t> turn(lengths.size());  // of each group
    for (std::size_t g = lengths.size(); g-- > 0; point /= lengths[g]) turn[g] = point % lengths[g];
    std::vector<std::size_t> choice;
    for (const SweptAxis& swept : axes) choice.push_back(turn[swept.group]);
    return choice;
}

bool leads_to(std::string_view axis, std::string_view path) {
    const std::string from = dotted(axis);
    const std::string to = dotted(path);
    return to == from || to.starts_with(from + ".");
}

std::string_view rest_below(std::string_view axis, std::string_view path) {
    const std::string from = dotted(axis);
    for (std::size_t end = 0; end < path.size(); ++end)
        if ((path[end] == '.' || path[end] == '[') && dotted(path.substr(0, end)) == from)
            return path.substr(end);
    return {};
}

Setting read_setting(const std::string& text, KnownOptions options) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        refuse_sweep(command_line, "--set",
                     fmt::format("\"{}\" is not path=value, such as cluster.nodes=8", text));
    Setting setting{text.substr(0, equals), {}};
    if (leads_to("sweep", setting.path))
        refuse_sweep(command_line, "--set " + setting.path,
                     "a sweep cannot be set; set the swept path itself, which replaces its axis");
    const std::string value = text.substr(equals + 1);
    setting.value = std::make_shared<const Json>(
        Json::accept(value) ? parse_json(value, std::string(command_line)) : Json(value));
    if (Fault fault = fault_of_path(setting.path, options); !fault.problem.empty())
        refuse_sweep(command_line, "--set " + setting.path, std::move(fault));
    return setting;
}

Sweep read_sweep(const Json& scenario, const std::string& file, KnownOptions options) {
    Sweep all;
    const auto sweep = scenario.find("sweep");
    if (sweep == scenario.end()) return all;
    if (!sweep->is_object())
        refuse_sweep(file, "sweep",
                     "is not an object of axes, such as {\"cluster.nodes\": [1, 2, 4]}");
    for (const auto& [path, values] : sweep->items())
        if (path == "zip")
            add_zips(values, file, options, all);
        else
            add_group({read_axis(path, values, file, "sweep." + path, options)}, all);
    check_unique_paths(all);
    return all;
}

bool apply_to_axes(const Setting& setting, Sweep& sweep) {
    const auto same = std::ranges::find_if(sweep.axes, [&](const SweptAxis& swept) {
        return dotted(swept.axis.path) == dotted(setting.path);
    });
    if (same != sweep.axes.end() && lists_values(*setting.value, *same)) {
        replace_values(setting, *same, sweep);
        return true;
    }
    std::erase_if(sweep.axes,
                  [&](const SweptAxis& swept) { return leads_to(setting.path, swept.axis.path); });
    renumber_groups(sweep);
    for (std::size_t g = 0; g < sweep.lengths.size(); ++g) check_distinct(of_group(sweep, g));
    return false;
}

void pick(const std::vector<std::string>& picks, Sweep& sweep) {
    std::map<std::size_t, std::vector<bool>> kept;  // [axis][value]
    std::map<std::size_t, std::string> last;        // the last pick of an axis, for errors
    for (const std::string& text : picks) {
        const Pick pick = read_pick(text);
        const std::size_t a = axis_meant(pick, sweep);
        const std::vector<std::string>& names = sweep.axes[a].axis.names;
        const std::vector<std::string_view> known(names.begin(), names.end());
        std::vector<bool>& of_axis = kept.try_emplace(a, names.size(), false).first->second;
        last[a] = pick.text;
        bool found = false;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == pick.label) of_axis[i] = found = true;
        if (!found)
            refuse_sweep(command_line, "--pick " + text,
                         unknown(pick.label, "a value of this axis", known));
    }
    // Several axes of a zip keep what all of their picks keep.
    std::map<std::size_t, std::vector<bool>> kept_together;
    for (const auto& [a, values] : kept) {
        const std::size_t group = sweep.axes[a].group;
        std::vector<bool>& all =
            kept_together.try_emplace(group, values.size(), true).first->second;
        for (std::size_t i = 0; i < values.size(); ++i) all[i] = all[i] && values[i];
        if (std::ranges::find(all, true) == all.end())
            refuse_sweep(command_line, "--pick " + last[a],
                         "leaves no point, because these axes advance together; pick values that "
                         "occur in one point");
    }
    for (const auto& [group, values] : kept_together) keep(values, group, sweep);
}

}  // namespace paceline
