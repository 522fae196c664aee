#include "app/scenario/study_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"
#include "app/json/schema.hpp"

namespace paceline {

namespace {

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

// Returns a doubt about a path that was to be set or swept: about what was probably meant, if the
// path is not known.
Doubt doubt_about(const std::string& path) {
    std::string meant;
    for (const std::string& key : split_path(path)) {
        if (!meant.empty()) meant += '.';
        const Fault fault = path_fault(meant + key);
        if (!fault.problem.empty() && fault.suggestion.empty()) return {path, true};
        meant += fault.problem.empty() ? key : fault.suggestion;
    }
    return {meant, false};
}

// Runs one part of the making of a study. Keeps its fault, and doubts the path that it was to
// change, or any if that is empty.
template <class Part>
bool attempt(PlanFaults& wrong, const std::string& path, Part part) {
    try {
        part();
        return true;
    } catch (const ConfigError& error) {
        wrong.faults.push_back(error);
        if (path.empty())
            wrong.nothing_is_certain = true;
        else
            wrong.doubts.push_back(doubt_about(path));
        return false;
    }
}

// Returns the paths that a member of a sweep sweeps. They need not be known.
std::vector<std::string> paths_swept_by(const std::string& path, const Json& values) {
    if (path != "zip") return {path};
    std::vector<std::string> paths;
    for (const Json& zip : values.is_array() ? values : Json::array({values}))
        if (zip.is_object())
            for (const auto& [swept, of_axis] : zip.items()) paths.push_back(swept);
    return paths;
}

// Returns whether a value has a "kind" with a colon, as methods of one's own have, also in a sweep.
bool names_own_method(const Json& json, bool is_kind = false) {
    if (json.is_string())
        return is_kind && json.get_ref<const std::string&>().find(':') != std::string::npos;
    if (json.is_array())
        return std::ranges::any_of(json,
                                   [&](const Json& one) { return names_own_method(one, is_kind); });
    if (!json.is_object()) return false;
    return std::ranges::any_of(json.items(), [](const auto& item) {
        return names_own_method(item.value(), split_path(item.key()).back() == "kind");
    });
}

KnownOptions options_known_to(const StudyPlan& plan, const Settings& settings) {
    const bool own = names_own_method(*plan.json) ||
                     std::ranges::any_of(settings, [](const std::string& setting) {
                         return setting.find("kind") != std::string::npos &&
                                setting.find(':') != std::string::npos;
                     });
    return own && plan.sources.own.method ? KnownOptions::of_own_methods
                                          : KnownOptions::of_the_table;
}

// Reads the sweep. Axes with a fault are left out.
void read_sweep_of(StudyPlan& plan, PlanFaults& wrong) {
    if (attempt(wrong, "", [&] { plan.sweep = read_sweep(*plan.json, plan.file, plan.options); }))
        return;
    const Json& sweep = plan.json->at("sweep");
    if (!sweep.is_object()) return;
    PlanFaults of_axes;
    Json right{{"sweep", Json::object()}};
    for (const auto& [path, values] : sweep.items()) {
        const Json alone{{"sweep", {{path, values}}}};
        const std::vector<std::string> swept = paths_swept_by(path, values);
        const std::string first = swept.empty() ? "" : swept.front();
        if (attempt(of_axes, first, [&] { read_sweep(alone, plan.file, plan.options); }))
            right["sweep"][path] = values;
        else
            for (const std::string& other : swept) of_axes.doubts.push_back(doubt_about(other));
    }
    if (of_axes.faults.empty()) return;  // the axes are wrong together
    wrong = std::move(of_axes);
    attempt(wrong, "", [&] { plan.sweep = read_sweep(right, plan.file, plan.options); });
}

void apply_picks(const Picks& picks, StudyPlan& plan, PlanFaults& wrong) {
    const bool certain = wrong.faults.empty();  // whether the axes are those that are meant
    try {
        pick(picks, plan.sweep);
    } catch (const ConfigError& together) {
        if (!certain) return;
        for (const std::string& one : picks)
            attempt(wrong, "", [&] {
                Sweep sweep = plan.sweep;
                pick({one}, sweep);
            });
        if (wrong.faults.empty()) wrong.faults.push_back(together);
        wrong.nothing_is_certain = true;  // neither are the points
    }
}

void apply_settings(const Settings& settings, StudyPlan& plan, PlanFaults& wrong) {
    const bool certain = wrong.faults.empty();
    for (const std::string& text : settings) {
        const std::string path = text.substr(0, text.find('='));
        std::optional<Setting> setting;
        const bool nowhere = text == path || leads_to("sweep", path);
        if (!attempt(wrong, nowhere ? "" : path,
                     [&] { setting = read_setting(text, plan.options); }))
            continue;
        PlanFaults of_axes;
        attempt(of_axes, path, [&] {
            if (!apply_to_axes(*setting, plan.sweep)) plan.changes.push_back(*std::move(setting));
        });
        if (certain) std::ranges::move(of_axes.faults, std::back_inserter(wrong.faults));
        std::ranges::move(of_axes.doubts, std::back_inserter(wrong.doubts));
    }
}

// The title is that of the study; its points do not repeat it.
void take_title(StudyPlan& plan, PlanFaults& wrong) {
    for (const Setting& setting : plan.changes)
        if (setting.path == "title") (*plan.json)["title"] = *setting.value;
    std::erase_if(plan.changes, [](const Setting& setting) { return setting.path == "title"; });
    const auto title = plan.json->find("title");
    if (title == plan.json->end()) return;
    attempt(wrong, "title", [&] { plan.title = as_string({&*title, &plan.file, "title"}); });
    plan.json->erase("title");
}

// Puts a value into a point. Of several that one value bars, the first is a fault, and the others
// follow.
void put_into(Json& json, const std::string& path, const Json& value, std::string_view file,
              const std::string& shown, PlanFaults& wrong) {
    if (attempt(wrong, path, [&] { put_at(json, path, value, file, shown); })) return;
    const std::string barrier = barrier_to(json, path);
    if (std::ranges::find(wrong.barriers, barrier) != wrong.barriers.end())
        wrong.faults.pop_back();
    else if (!barrier.empty())
        wrong.barriers.push_back(barrier);
}

}  // namespace

StudyPlan make_study_plan(const ScenarioText& scenario, const Settings& settings,
                          const Picks& picks, PlanFaults& wrong) {
    const std::string& file = scenario.file;
    StudyPlan plan{.file = file,
                   .title = {},
                   .sources = scenario.sources,
                   .options = KnownOptions::of_the_table,
                   .sweep = {},
                   .order = {},
                   .changes = {},
                   .json = std::make_shared<Json>(parse_json(scenario.text, file))};
    if (!plan.json->is_object())
        throw ConfigError(file, "", "is not a scenario, because it is not an object; write {...}");
    plan.options = options_known_to(plan, settings);
    read_sweep_of(plan, wrong);
    plan.json->erase("sweep");
    apply_picks(picks, plan, wrong);
    apply_settings(settings, plan, wrong);
    take_title(plan, wrong);
    plan.order = order_of_application(plan.sweep);
    attempt(wrong, "sweep", [&] { plan.points = plan.sweep.points(file); });
    return plan;
}

Json resolve_point(const StudyPlan& plan, const std::vector<std::size_t>& choice,
                   PlanFaults& wrong) {
    Json json = *plan.json;
    for (const std::size_t i : plan.order) {
        const SweptAxis& swept = plan.sweep.axes[i];
        const std::string& path = swept.axis.path;
        Json value = *swept.values[choice[i]];
        if (value.is_object() && path != "algorithm") value.erase("label");
        put_into(json, path, value, swept.file, swept.shown, wrong);
    }
    for (const Setting& change : plan.changes)
        put_into(json, change.path, *change.value, command_line, "--set " + change.path, wrong);
    return json;
}

std::string resolved_text(const Json& resolved) {
    return resolved.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace paceline
