#include "app/scenario/study.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/schema.hpp"

namespace paceline {

namespace {

constexpr std::string_view command_line = "command line";

// An axis with the values that its names stand for.
struct Sweep {
    Axis axis;
    std::vector<Json> values;
};

struct Setting {
    std::string path;
    Json value;
};

[[noreturn]] void refuse(std::string_view file, const std::string& path,
                         const std::string& problem) {
    throw ConfigError(std::string(file), path, problem);
}

std::string sweep_path(const std::string& axis) {
    return fmt::format("sweep.{}", axis);
}

bool leads_to(const std::string& axis, const std::string& path) {
    return path == axis || path.starts_with(axis + ".") || path.starts_with(axis + "[");
}

Setting read_setting(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        refuse(command_line, "--set",
               fmt::format("\"{}\" is not path=value, such as cluster.nodes=8", text));
    Setting setting{text.substr(0, equals), {}};
    if (leads_to("sweep", setting.path))
        refuse(command_line, "--set " + setting.path,
               "a sweep cannot be set; set the swept path itself, which replaces its axis");
    const std::string value = text.substr(equals + 1);
    setting.value =
        Json::accept(value) ? parse_json(value, std::string(command_line)) : Json(value);
    const std::string problem = path_problem(scenario_schema(), setting.path);
    if (!problem.empty()) refuse(command_line, "--set " + setting.path, problem);
    return setting;
}

// Puts a value at a path and creates objects on the way. `shown` is the path as the user wrote it.
void put(Json& json, const std::string& path, const Json& value, std::string_view file,
         const std::string& shown) {
    Json* at = &json;
    for (const std::string& key : split_path(path)) {
        if (at->is_null()) *at = Json::object();
        if (!at->is_object())
            refuse(file, shown,
                   fmt::format("leads through a value that is not an object, above \"{}\"; make "
                               "that value an object",
                               key));
        at = &(*at)[key];
    }
    *at = value;
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
    if (!value.is_object()) return value.dump();
    for (const char* key : {"label", "kind", "preset"})
        if (const auto found = value.find(key); found != value.end() && found->is_string())
            return found->get<std::string>();
    return value.dump();
}

Sweep read_axis(const std::string& path, const Json& values, const std::string& file) {
    const std::string problem =
        path == "sweep" ? "a sweep cannot be swept" : path_problem(scenario_schema(), path);
    if (!problem.empty()) refuse(file, sweep_path(path), problem);
    if (!values.is_array()) refuse(file, sweep_path(path), "is not a list of values; write [...]");
    if (values.empty()) refuse(file, sweep_path(path), "is empty; give one value at least");
    Sweep sweep{{path, {}}, {}};
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].is_object() && values[i].contains("label"))
            as_string(
                {&values[i].at("label"), &file, fmt::format("{}[{}].label", sweep_path(path), i)});
        const std::string name = name_of(values[i]);
        if (!seen.insert(name).second)
            refuse(
                file, fmt::format("{}[{}]", sweep_path(path), i),
                fmt::format("\"{}\" occurs twice on this axis; remove one, or give each object its "
                            "own \"label\"",
                            name));
        sweep.values.push_back(values[i]);
        sweep.axis.names.push_back(name);
    }
    return sweep;
}

std::vector<Sweep> read_axes(const Json& json, const std::string& file) {
    std::vector<Sweep> axes;
    const auto sweep = json.find("sweep");
    if (sweep == json.end()) return axes;
    if (!sweep->is_object())
        refuse(file, "sweep", "is not an object of axes, such as {\"cluster.nodes\": [1, 2, 4]}");
    for (const auto& [path, values] : sweep->items()) axes.push_back(read_axis(path, values, file));
    return axes;
}

std::size_t count_points(const std::vector<Sweep>& axes, const std::string& file) {
    std::size_t product = 1;
    for (const Sweep& sweep : axes)
        if (__builtin_mul_overflow(product, sweep.values.size(), &product) || product > most_points)
            refuse(file, "sweep",
                   fmt::format("the axes multiply to more than {} points; split the study",
                               most_points));
    return product;
}

// Applies shallow axes first, so that "algorithm" does not undo "algorithm.density".
std::vector<std::size_t> order_of_application(const std::vector<Sweep>& axes) {
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> by_depth;
    for (std::size_t i = 0; i < axes.size(); ++i)
        by_depth.emplace_back(std::ranges::count(axes[i].axis.path, '.'), i);
    std::ranges::sort(by_depth);
    std::vector<std::size_t> order;
    for (const auto& [depth, index] : by_depth) order.push_back(index);
    return order;
}

// A study before its points are made.
struct Plan {
    std::string file;
    std::vector<Sweep> axes;
    std::vector<Setting> changes;
    Json json;  // without "sweep"
    std::size_t points = 1;
};

bool has(const Json& json, const std::string& path) {
    const Json* at = &json;
    for (const std::string& key : split_path(path)) {
        if (!at->is_object() || !at->contains(key)) return false;
        at = &at->at(key);
    }
    return true;
}

// If the error is in an object that is not in the file, blames the setting or axis below it that
// created the object.
void blame_maker(const ConfigError& error, const Plan& plan, const Point& point) {
    if (error.path().empty() || has(plan.json, error.path())) return;
    for (const Setting& setting : plan.changes)
        if (leads_to(error.path(), setting.path))
            refuse(command_line, "--set " + setting.path, error.problem());
    for (std::size_t i = 0; i < plan.axes.size(); ++i)
        if (const std::string& path = plan.axes[i].axis.path; leads_to(error.path(), path))
            refuse(plan.file, fmt::format("{}[{}]", sweep_path(path), point.choice[i]),
                   error.problem());
}

// Reports an error of a resolved point at its location in the user's input.
[[noreturn]] void blame(const ConfigError& error, const Study& study, const Point& point,
                        const Plan& plan) {
    if (error.file() != study.file) throw error;
    for (const Setting& setting : plan.changes)
        if (leads_to(setting.path, error.path()))
            refuse(command_line, "--set " + error.path(), error.problem());
    std::size_t longest = study.axes.size();
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (leads_to(study.axes[i].path, error.path()) &&
            (longest == study.axes.size() ||
             study.axes[i].path.size() > study.axes[longest].path.size()))
            longest = i;
    if (longest == study.axes.size()) {
        blame_maker(error, plan, point);
        throw error;
    }
    const Axis& axis = study.axes[longest];
    refuse(study.file,
           fmt::format("{}[{}]{}", sweep_path(axis.path), point.choice[longest],
                       error.path().substr(axis.path.size())),
           error.problem());
}

// Returns the values that a point takes on the axes; the last axis varies fastest.
std::vector<std::size_t> choice_of(std::size_t number, const std::vector<Sweep>& axes) {
    std::vector<std::size_t> choice(axes.size());
    for (std::size_t i = axes.size(); i-- > 0; number /= axes[i].values.size())
        choice[i] = number % axes[i].values.size();
    return choice;
}

Plan plan_of(const ScenarioText& scenario, const std::vector<std::string>& settings) {
    const std::string& file = scenario.file;
    Plan plan{file, {}, {}, parse_json(scenario.text, file)};
    if (!plan.json.is_object()) refuse(file, "", "is not a scenario: it is no object; write {...}");
    for (const std::string& text : settings) plan.changes.push_back(read_setting(text));

    plan.axes = read_axes(plan.json, file);
    for (const Setting& change : plan.changes)
        std::erase_if(plan.axes,
                      [&](const Sweep& s) { return leads_to(change.path, s.axis.path); });
    plan.json.erase("sweep");
    plan.points = count_points(plan.axes, file);
    return plan;
}

Json resolve(const Plan& plan, const std::vector<std::size_t>& choice) {
    Json json = plan.json;
    for (const std::size_t i : order_of_application(plan.axes)) {
        const std::string& path = plan.axes[i].axis.path;
        Json value = plan.axes[i].values[choice[i]];
        if (value.is_object() && path != "algorithm") value.erase("label");
        put(json, path, value, plan.file, sweep_path(path));
    }
    for (const Setting& change : plan.changes)
        put(json, change.path, change.value, command_line, "--set " + change.path);
    return json;
}

std::string as_text(const Json& resolved) {
    return resolved.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Requires that `study` has the axes of the plan and the sources of its scenario.
Point make_point(const Plan& plan, const Study& study, std::size_t number, DataCache& cache) {
    Point point{choice_of(number, plan.axes), {}, {}, number};
    const Json resolved = resolve(plan, point.choice);
    point.resolved = as_text(resolved);
    try {
        point.scenario = read_scenario(resolved, plan.file, study.sources, cache);
    } catch (const ConfigError& error) {
        blame(error, study, point, plan);
    }
    return point;
}

}  // namespace

Point read_single_point(const ScenarioText& scenario, const std::vector<std::string>& settings,
                        DataCache& cache) {
    const Plan plan = plan_of(scenario, settings);
    std::string axes;
    for (const Sweep& sweep : plan.axes) axes += (axes.empty() ? "" : ", ") + sweep.axis.path;
    if (plan.points > 1)
        refuse(scenario.file, "sweep",
               fmt::format("makes {} points and one is wanted; give each axis a value with --set: "
                           "{}",
                           plan.points, axes));
    Study study{scenario.file, {}, {}, {}, scenario.sources};
    for (const Sweep& sweep : plan.axes) study.axes.push_back(sweep.axis);
    return make_point(plan, study, 0, cache);
}

std::vector<std::string> resolve_study(const ScenarioText& scenario,
                                       const std::vector<std::string>& settings) {
    const Plan plan = plan_of(scenario, settings);
    std::vector<std::string> points;
    for (std::size_t number = 0; number < plan.points; ++number)
        points.push_back(as_text(resolve(plan, choice_of(number, plan.axes))));
    return points;
}

Study read_study(const ScenarioText& scenario, const std::vector<std::string>& settings) {
    const Plan plan = plan_of(scenario, settings);
    Study study{scenario.file, {}, {}, {}, scenario.sources};
    for (const Sweep& sweep : plan.axes) study.axes.push_back(sweep.axis);
    study.points.reserve(plan.points);
    DataCache cache;
    for (std::size_t number = 0; number < plan.points; ++number)
        study.points.push_back(make_point(plan, study, number, cache));
    study.title = study.points.front().scenario.title;
    return study;
}

}  // namespace paceline
