#include "app/scenario/study.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/faults.hpp"
#include "app/scenario/sweep.hpp"

namespace paceline {

namespace {

[[noreturn]] void refuse(std::string_view file, const std::string& path, Fault fault) {
    throw ConfigError(std::string(file), path, std::move(fault));
}

[[noreturn]] void refuse(std::string_view file, const std::string& path, std::string problem) {
    refuse(file, path, Fault{std::move(problem)});
}

// What is wrong with a study itself, before its points are read.
struct StudyFaults {
    std::vector<ConfigError> faults{};
    std::vector<Doubt> doubts{};          // about what was to be changed or swept, and is not
    bool nothing_is_certain = false;      // it may be anything that was to be changed
    std::vector<std::string> barriers{};  // values that are no objects, and bar the way to others
};

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

// Returns a doubt about a path that was to be set or swept: about what was probably meant, if the
// path is not known.
Doubt doubt_about(const std::string& path) {
    std::string meant;
    for (const std::string& key : split_path(path)) {
        if (!meant.empty()) meant += '.';
        const Fault fault = path_fault(scenario_schema(), meant + key);
        if (!fault.problem.empty() && fault.suggestion.empty()) return {path, true};
        meant += fault.problem.empty() ? key : fault.suggestion;
    }
    return {meant, false};
}

// Runs one part of the making of a study. Keeps its fault, and doubts the path that it was to
// change, or any if that is empty.
template <class Part>
bool attempt(StudyFaults& wrong, const std::string& path, Part part) {
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

// Reads the sweep. Axes with a fault are left out.
void read_sweep_of(Plan& plan, StudyFaults& wrong) {
    if (attempt(wrong, "", [&] { plan.sweep = read_sweep(plan.json, plan.file); })) return;
    const Json& sweep = plan.json.at("sweep");
    if (!sweep.is_object()) return;
    StudyFaults of_axes;
    Json right{{"sweep", Json::object()}};
    for (const auto& [path, values] : sweep.items()) {
        const Json alone{{"sweep", {{path, values}}}};
        const std::vector<std::string> swept = paths_swept_by(path, values);
        const std::string first = swept.empty() ? "" : swept.front();
        if (attempt(of_axes, first, [&] { read_sweep(alone, plan.file); }))
            right["sweep"][path] = values;
        else
            for (const std::string& other : swept) of_axes.doubts.push_back(doubt_about(other));
    }
    if (of_axes.faults.empty()) return;  // the axes are wrong together
    wrong = std::move(of_axes);
    attempt(wrong, "", [&] { plan.sweep = read_sweep(right, plan.file); });
}

void apply_picks(const Picks& picks, Plan& plan, StudyFaults& wrong) {
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

void apply_settings(const Settings& settings, Plan& plan, StudyFaults& wrong) {
    const bool certain = wrong.faults.empty();
    for (const std::string& text : settings) {
        const std::string path = text.substr(0, text.find('='));
        std::optional<Setting> setting;
        const bool nowhere = text == path || leads_to("sweep", path);
        if (!attempt(wrong, nowhere ? "" : path, [&] { setting = read_setting(text); })) continue;
        StudyFaults of_axes;
        attempt(of_axes, path, [&] {
            if (!apply_to_axes(*setting, plan.sweep)) plan.changes.push_back(*std::move(setting));
        });
        if (certain) std::ranges::move(of_axes.faults, std::back_inserter(wrong.faults));
        std::ranges::move(of_axes.doubts, std::back_inserter(wrong.doubts));
    }
}

// The title is that of the study; its points do not repeat it.
void take_title(Plan& plan, StudyFaults& wrong) {
    for (const Setting& setting : plan.changes)
        if (setting.path == "title") plan.json["title"] = *setting.value;
    std::erase_if(plan.changes, [](const Setting& setting) { return setting.path == "title"; });
    const auto title = plan.json.find("title");
    if (title == plan.json.end()) return;
    attempt(wrong, "title", [&] { plan.title = as_string({&*title, &plan.file, "title"}); });
    plan.json.erase("title");
}

// The parts of a study that are wrong are left out.
Plan plan_of(const ScenarioText& scenario, const Settings& settings, const Picks& picks,
             StudyFaults& wrong) {
    const std::string& file = scenario.file;
    Plan plan{.file = file,
              .title = {},
              .sources = scenario.sources,
              .sweep = {},
              .order = {},
              .changes = {},
              .json = parse_json(scenario.text, file)};
    if (!plan.json.is_object()) refuse(file, "", "is not a scenario: it is no object; write {...}");
    read_sweep_of(plan, wrong);
    plan.json.erase("sweep");
    apply_picks(picks, plan, wrong);
    apply_settings(settings, plan, wrong);
    take_title(plan, wrong);
    plan.order = order_of_application(plan.sweep);
    attempt(wrong, "sweep", [&] { plan.points = plan.sweep.points(file); });
    return plan;
}

// Returns the path of a value above this one that is no object, so that nothing can be put below
// it; empty if there is none.
std::string barrier_to(const Json& json, const std::string& path) {
    const Json* at = &json;
    std::string passed;
    for (const std::string& key : split_path(path)) {
        if (at->is_array() && is_index(key) && std::stoul(key) < at->size())
            at = &(*at)[std::stoul(key)];
        else if (at->is_object() && at->contains(key))
            at = &at->at(key);
        else
            return at->is_structured() || at->is_null() ? std::string() : passed;
        passed += "." + key;
    }
    return {};
}

// Puts a value into a point. Of several that one value bars, the first is a fault, and the others
// follow.
void put_into(Json& json, const std::string& path, const Json& value, std::string_view file,
              const std::string& shown, StudyFaults& wrong) {
    if (attempt(wrong, path, [&] { put(json, path, value, file, shown); })) return;
    const std::string barrier = barrier_to(json, path);
    if (std::ranges::find(wrong.barriers, barrier) != wrong.barriers.end())
        wrong.faults.pop_back();
    else if (!barrier.empty())
        wrong.barriers.push_back(barrier);
}

Json resolve(const Plan& plan, const std::vector<std::size_t>& choice, StudyFaults& wrong) {
    Json json = plan.json;
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

std::string as_text(const Json& resolved) {
    return resolved.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns the points that differ from one in the value of one axis, or of axes that advance
// together.
std::vector<std::size_t> points_beside(const Plan& plan, std::size_t number) {
    std::vector<std::size_t> beside;
    std::size_t stride = 1;
    for (std::size_t g = plan.sweep.lengths.size(); g-- > 0; stride *= plan.sweep.lengths[g]) {
        const std::size_t length = plan.sweep.lengths[g];
        const std::size_t first = number - number / stride % length * stride;
        for (std::size_t i = 0; i < length; ++i)
            if (first + i * stride != number) beside.push_back(first + i * stride);
    }
    return beside;
}

// Collects the faults of a study: those of the study itself, of one point, and what those beside it
// have besides.
class Refusal {
  public:
    Refusal(const Plan& plan, const std::vector<ConfigError>& faults) : plan_(plan) {
        for (const ConfigError& fault : faults) add(fault);
    }

    void search(std::size_t number, const std::vector<Doubt>& doubts) {
        FaultSearch search{.file = plan_.file, .read = [this](const Json& json) {
                               read_scenario(json, plan_.file, plan_.sources);
                           }};
        for (const Doubt& doubt : doubts) put_in_doubt(search, doubt);
        search_point(number, search);
        if (plan_.points == 1) return;
        for (const std::size_t beside : points_beside(plan_, number)) {
            FaultSearch other = search;
            std::erase_if(other.mended, [&](const MendedPlace& place) {
                return is_of_axis_between(place.place, number, beside);
            });
            search_point(beside, other);
            search.readings = other.readings;
        }
    }

    [[noreturn]] void end() {
        const auto reported = static_cast<std::ptrdiff_t>(std::min(faults_.size(), most_faults));
        throw ConfigError(faults_.front(), {faults_.begin() + 1, faults_.begin() + reported});
    }

  private:
    // Adds a fault unless another one at its place is known.
    void add(const ConfigError& fault) {
        const bool known = std::ranges::any_of(faults_, [&](const ConfigError& other) {
            return other.file() == fault.file() && other.path() == fault.path() &&
                   other.fault().missing == fault.fault().missing;
        });
        if (!known) faults_.push_back(fault);
    }

    void search_point(std::size_t number, FaultSearch& search) {
        const std::vector<std::size_t> choice = plan_.sweep.choice(number);
        StudyFaults wrong;
        const Json resolved = resolve(plan_, choice, wrong);
        for (const ConfigError& fault : wrong.faults) add(fault);
        for (const Doubt& doubt : wrong.doubts) put_in_doubt(search, doubt);
        for (const ConfigError& fault : find_faults(resolved, search)) {
            const bool known = std::ranges::any_of(resolved_, [&](const ConfigError& other) {
                return other.path() == fault.path() && other.problem() == fault.problem();
            });
            if (known) continue;
            resolved_.push_back(fault);
            try {
                blame(fault, plan_, choice);
            } catch (const ConfigError& blamed) {
                add(blamed);
            }
        }
    }

    // Returns whether a place is, or may depend on, that of an axis on which two points differ.
    [[nodiscard]] bool is_of_axis_between(const std::string& place, std::size_t one,
                                          std::size_t other) const {
        const std::vector<std::size_t> first = plan_.sweep.choice(one);
        const std::vector<std::size_t> second = plan_.sweep.choice(other);
        for (std::size_t i = 0; i < plan_.sweep.axes.size(); ++i) {
            const std::string& path = plan_.sweep.axes[i].axis.path;
            if (first[i] != second[i] && (leads_to(path, place) || leads_to(place, path)))
                return true;
        }
        return false;
    }

    const Plan& plan_;
    std::vector<ConfigError> faults_;
    std::vector<ConfigError> resolved_;  // as they are in the points
};

// Throws all faults of a study that has some of its own, before any point is read.
void refuse_if_wrong(const Plan& plan, const StudyFaults& wrong) {
    if (wrong.faults.empty()) return;
    Refusal refusal(plan, wrong.faults);
    if (!wrong.nothing_is_certain) refusal.search(0, wrong.doubts);
    refusal.end();
}

Point make_point(const Plan& plan, std::size_t number) {
    StudyFaults wrong;
    const std::vector<std::size_t> choice = plan.sweep.choice(number);
    const Json resolved = resolve(plan, choice, wrong);
    if (!wrong.faults.empty()) throw ConfigError(wrong.faults.front());
    Point point{choice, as_text(resolved), {}, number};
    try {
        point.scenario = read_scenario(resolved, plan.file, plan.sources);
    } catch (const ConfigError& error) {
        blame(error, plan, point.choice);
    }
    return point;
}

// Throws all faults of the study if the point has one.
Point read_point(const Plan& plan, std::size_t number) {
    try {
        return make_point(plan, number);
    } catch (const ConfigError& first) {
        Refusal refusal(plan, {first});
        refusal.search(number, {});
        refusal.end();
    }
}

}  // namespace

Study read_study(const ScenarioText& scenario, const Settings& settings, const Picks& picks,
                 const SeePoint& see) {
    StudyFaults wrong;
    const auto plan = std::make_shared<const Plan>(plan_of(scenario, settings, picks, wrong));
    refuse_if_wrong(*plan, wrong);
    Study study{scenario.file, plan->title, plan->sweep.shown_axes(), {}, scenario.sources};
    for (std::size_t number = 0; number < plan->points; ++number) {
        const Point point = read_point(*plan, number);
        if (see) see(point);
    }
    study.points = {
        plan->points, [plan](std::size_t number) { return make_point(*plan, number); },
        [plan](std::size_t number) { return Position{number, plan->sweep.choice(number)}; }};
    return study;
}

Point read_single_point(const ScenarioText& scenario, const Settings& settings,
                        const Picks& picks) {
    StudyFaults wrong;
    const Plan plan = plan_of(scenario, settings, picks, wrong);
    refuse_if_wrong(plan, wrong);
    std::vector<std::string_view> axes;
    for (const SweptAxis& swept : plan.sweep.axes) axes.emplace_back(swept.axis.path);
    if (plan.points > 1)
        refuse(scenario.file, "sweep",
               fmt::format("makes {} points and one is wanted; pick a value of each axis with "
                           "--pick axis=label: {}",
                           plan.points, fmt::join(axes, ", ")));
    return read_point(plan, 0);
}

std::vector<std::string> resolve_study(const ScenarioText& scenario, const Settings& settings) {
    StudyFaults wrong;
    const Plan plan = plan_of(scenario, settings, {}, wrong);
    std::vector<std::string> points;
    for (std::size_t number = 0; wrong.faults.empty() && number < plan.points; ++number)
        points.push_back(as_text(resolve(plan, plan.sweep.choice(number), wrong)));
    if (!wrong.faults.empty()) throw ConfigError(wrong.faults.front());
    return points;
}

}  // namespace paceline
