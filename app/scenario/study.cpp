#include "app/scenario/study.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/sweep.hpp"

namespace paceline {

namespace {

[[noreturn]] void refuse(std::string_view file, const std::string& path, Fault fault) {
    throw ConfigError(std::string(file), path, std::move(fault));
}

[[noreturn]] void refuse(std::string_view file, const std::string& path, std::string problem) {
    refuse(file, path, Fault{std::move(problem)});
}

// A study before its points are read.
struct Plan {
    std::string file;
    std::string title;
    Sources sources;
    Sweep sweep;
    std::vector<std::size_t> order;  // of the axes, as they are applied
    std::vector<Setting> changes;    // of every point
    Json json;                       // without "sweep" and "title"
    std::size_t points = 1;
};

bool is_index(std::string_view key) {
    return !key.empty() && key.size() < 10 &&
           std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the element of a list that a key names.
Json& element(Json& list, const std::string& key, std::string_view file, const std::string& shown) {
    if (!is_index(key))
        refuse(file, shown,
               fmt::format("leads into a list at \"{}\"; name an element by its index, from 0 on",
                           key));
    const std::size_t index = std::stoul(key);
    if (index >= list.size())
        refuse(file, shown,
               fmt::format("names element {} of a list that has {}; elements count from 0", index,
                           list.size()));
    return list[index];
}

// Puts a value at a path and creates objects on the way. `shown` is the path as the user wrote it.
void put(Json& json, const std::string& path, const Json& value, std::string_view file,
         const std::string& shown) {
    Json* at = &json;
    for (const std::string& key : split_path(path)) {
        if (at->is_array()) {
            at = &element(*at, key, file, shown);
            continue;
        }
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

// Applies shallow axes first, so that "algorithm" does not undo "algorithm.density".
std::vector<std::size_t> order_of_application(const Sweep& sweep) {
    std::vector<std::pair<std::size_t, std::size_t>> by_depth;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i)
        by_depth.emplace_back(split_path(sweep.axes[i].axis.path).size(), i);
    std::ranges::sort(by_depth);
    std::vector<std::size_t> order;
    for (const auto& [depth, index] : by_depth) order.push_back(index);
    return order;
}

bool has(const Json& json, const std::string& path) {
    const Json* at = &json;
    for (const std::string& key : split_path(path)) {
        if (at->is_array() && is_index(key) && std::stoul(key) < at->size()) {
            at = &(*at)[std::stoul(key)];
            continue;
        }
        if (!at->is_object() || !at->contains(key)) return false;
        at = &at->at(key);
    }
    return true;
}

std::string shown_value(const SweptAxis& swept, std::size_t value) {
    return fmt::format("{}[{}]", swept.shown, value);
}

// If the error is in an object that nobody wrote, blames the setting or axis below it that created
// the object.
void blame_maker(const ConfigError& error, const Plan& plan,
                 const std::vector<std::size_t>& choice) {
    for (const Setting& setting : plan.changes)
        if (leads_to(error.path(), setting.path))
            refuse(command_line, "--set " + setting.path, error.fault());
    for (std::size_t i = 0; i < plan.sweep.axes.size(); ++i)
        if (const SweptAxis& swept = plan.sweep.axes[i]; leads_to(error.path(), swept.axis.path))
            refuse(swept.file, shown_value(swept, choice[i]), error.fault());
}

// Returns the axis with the longest path at or above `path`; the number of axes if there is none.
std::size_t axis_above(const std::string& path, const Sweep& sweep) {
    std::size_t longest = sweep.axes.size();
    for (std::size_t i = 0; i < sweep.axes.size(); ++i)
        if (leads_to(sweep.axes[i].axis.path, path) &&
            (longest == sweep.axes.size() ||
             sweep.axes[i].axis.path.size() > sweep.axes[longest].axis.path.size()))
            longest = i;
    return longest;
}

// Reports an error of a resolved point at its location in the user's input.
[[noreturn]] void blame(const ConfigError& error, const Plan& plan,
                        const std::vector<std::size_t>& choice) {
    if (error.file() != plan.file) throw error;
    for (const Setting& setting : plan.changes)
        if (leads_to(setting.path, error.path()))
            refuse(command_line, "--set " + error.path(), error.fault());
    const std::size_t axis = axis_above(error.path(), plan.sweep);
    if (axis == plan.sweep.axes.size()) {
        if (!error.path().empty() && !has(plan.json, error.path()))
            blame_maker(error, plan, choice);
        throw error;
    }
    const SweptAxis& swept = plan.sweep.axes[axis];
    const std::string_view rest = rest_below(swept.axis.path, error.path());
    if (!rest.empty() && !has(*swept.values[choice[axis]], std::string(rest.substr(1))))
        blame_maker(error, plan, choice);
    refuse(swept.file, fmt::format("{}{}", shown_value(swept, choice[axis]), rest), error.fault());
}

// The title is that of the study; its points do not repeat it.
std::string take_title(Json& json, const Plan& plan) {
    for (const Setting& setting : plan.changes)
        if (setting.path == "title") json["title"] = *setting.value;
    const auto title = json.find("title");
    if (title == json.end()) return {};
    std::string text = as_string({&*title, &plan.file, "title"});
    json.erase("title");
    return text;
}

Plan plan_of(const ScenarioText& scenario, const Settings& settings, const Picks& picks) {
    const std::string& file = scenario.file;
    Plan plan{.file = file,
              .title = {},
              .sources = scenario.sources,
              .sweep = {},
              .order = {},
              .changes = {},
              .json = parse_json(scenario.text, file)};
    if (!plan.json.is_object()) refuse(file, "", "is not a scenario: it is no object; write {...}");
    plan.sweep = read_sweep(plan.json, file);
    plan.json.erase("sweep");
    pick(picks, plan.sweep);
    for (const std::string& text : settings) {
        Setting setting = read_setting(text);
        if (!apply_to_axes(setting, plan.sweep)) plan.changes.push_back(std::move(setting));
    }
    plan.title = take_title(plan.json, plan);
    std::erase_if(plan.changes, [](const Setting& setting) { return setting.path == "title"; });
    plan.order = order_of_application(plan.sweep);
    plan.points = plan.sweep.points(file);
    return plan;
}

Json resolve(const Plan& plan, const std::vector<std::size_t>& choice) {
    Json json = plan.json;
    for (const std::size_t i : plan.order) {
        const SweptAxis& swept = plan.sweep.axes[i];
        const std::string& path = swept.axis.path;
        Json value = *swept.values[choice[i]];
        if (value.is_object() && path != "algorithm") value.erase("label");
        put(json, path, value, swept.file, swept.shown);
    }
    for (const Setting& change : plan.changes)
        put(json, change.path, *change.value, command_line, "--set " + change.path);
    return json;
}

std::string as_text(const Json& resolved) {
    return resolved.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Point read_point(const Plan& plan, const Json& resolved, std::size_t number) {
    Point point{plan.sweep.choice(number), as_text(resolved), {}, number};
    try {
        point.scenario = read_scenario(resolved, plan.file, plan.sources);
    } catch (const ConfigError& error) {
        blame(error, plan, point.choice);
    }
    return point;
}

Point make_point(const Plan& plan, std::size_t number) {
    return read_point(plan, resolve(plan, plan.sweep.choice(number)), number);
}

}  // namespace

Study read_study(const ScenarioText& scenario, const Settings& settings, const Picks& picks,
                 const SeePoint& see) {
    const auto plan = std::make_shared<const Plan>(plan_of(scenario, settings, picks));
    Study study{scenario.file, plan->title, plan->sweep.shown_axes(), {}, scenario.sources};
    for (std::size_t number = 0; number < plan->points; ++number) {
        const Point point = make_point(*plan, number);
        if (see) see(point);
    }
    study.points = {
        plan->points, [plan](std::size_t number) { return make_point(*plan, number); },
        [plan](std::size_t number) { return Position{number, plan->sweep.choice(number)}; }};
    return study;
}

Point read_single_point(const ScenarioText& scenario, const Settings& settings,
                        const Picks& picks) {
    const Plan plan = plan_of(scenario, settings, picks);
    std::vector<std::string_view> axes;
    for (const SweptAxis& swept : plan.sweep.axes) axes.emplace_back(swept.axis.path);
    if (plan.points > 1)
        refuse(scenario.file, "sweep",
               fmt::format("makes {} points and one is wanted; pick a value of each axis with "
                           "--pick axis=label: {}",
                           plan.points, fmt::join(axes, ", ")));
    return make_point(plan, 0);
}

std::vector<std::string> resolve_study(const ScenarioText& scenario, const Settings& settings) {
    const Plan plan = plan_of(scenario, settings, {});
    std::vector<std::string> points;
    for (std::size_t number = 0; number < plan.points; ++number)
        points.push_back(as_text(resolve(plan, plan.sweep.choice(number))));
    return points;
}

}  // namespace paceline
