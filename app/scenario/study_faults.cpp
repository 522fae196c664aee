#include "app/scenario/study_faults.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"

namespace paceline {

namespace {

std::string shown_value(const SweptAxis& swept, std::size_t value) {
    return fmt::format("{}[{}]", swept.shown, value);
}

// If the error is in an object that nobody wrote, blames the setting or axis below it that created
// the object.
void blame_maker(const ConfigError& error, const StudyPlan& plan,
                 const std::vector<std::size_t>& choice) {
    for (const Setting& setting : plan.changes)
        if (leads_to(error.path(), setting.path))
            throw ConfigError(std::string(command_line), "--set " + setting.path, error.fault());
    for (std::size_t i = 0; i < plan.sweep.axes.size(); ++i)
        if (const SweptAxis& swept = plan.sweep.axes[i]; leads_to(error.path(), swept.axis.path))
            throw ConfigError(swept.file, shown_value(swept, choice[i]), error.fault());
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

// Returns the points that differ from one in the value of one axis, or of axes that advance
// together.
std::vector<std::size_t> points_beside(const StudyPlan& plan, std::size_t number) {
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

}  // namespace

void blame(const ConfigError& error, const StudyPlan& plan,
           const std::vector<std::size_t>& choice) {
    if (error.file() != plan.file) throw error;
    for (const Setting& setting : plan.changes)
        if (leads_to(setting.path, error.path()))
            throw ConfigError(std::string(command_line), "--set " + error.path(), error.fault());
    const std::size_t axis = axis_above(error.path(), plan.sweep);
    if (axis == plan.sweep.axes.size()) {
        if (!error.path().empty() && !has_at(*plan.json, error.path()))
            blame_maker(error, plan, choice);
        throw error;
    }
    const SweptAxis& swept = plan.sweep.axes[axis];
    const std::string_view rest = rest_below(swept.axis.path, error.path());
    if (!rest.empty() && !has_at(*swept.values[choice[axis]], std::string(rest.substr(1))))
        blame_maker(error, plan, choice);
    throw ConfigError(swept.file, fmt::format("{}{}", shown_value(swept, choice[axis]), rest),
                      error.fault());
}

Refusal::Refusal(const StudyPlan& plan, const std::vector<ConfigError>& faults) : plan_(plan) {
    for (const ConfigError& fault : faults) add(fault);
}

void Refusal::search(std::size_t number, const std::vector<Doubt>& doubts) {
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

void Refusal::end() {
    const auto reported = static_cast<std::ptrdiff_t>(std::min(faults_.size(), most_faults));
    throw ConfigError(faults_.front(), {faults_.begin() + 1, faults_.begin() + reported});
}

void Refusal::add(const ConfigError& fault) {
    const bool known = std::ranges::any_of(faults_, [&](const ConfigError& other) {
        return other.file() == fault.file() && other.path() == fault.path() &&
               other.fault().missing == fault.fault().missing;
    });
    if (!known) faults_.push_back(fault);
}

void Refusal::search_point(std::size_t number, FaultSearch& search) {
    const std::vector<std::size_t> choice = plan_.sweep.choice(number);
    PlanFaults wrong;
    const Json resolved = resolve_point(plan_, choice, wrong);
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

bool Refusal::is_of_axis_between(const std::string& place, std::size_t one,
                                 std::size_t other) const {
    const std::vector<std::size_t> first = plan_.sweep.choice(one);
    const std::vector<std::size_t> second = plan_.sweep.choice(other);
    for (std::size_t i = 0; i < plan_.sweep.axes.size(); ++i) {
        const std::string& path = plan_.sweep.axes[i].axis.path;
        if (first[i] != second[i] && (leads_to(path, place) || leads_to(place, path))) return true;
    }
    return false;
}
void refuse_if_wrong(const StudyPlan& plan, const PlanFaults& wrong) {
    if (wrong.faults.empty()) return;
    Refusal refusal(plan, wrong.faults);
    if (!wrong.nothing_is_certain) refusal.search(0, wrong.doubts);
    refusal.end();
}

}  // namespace paceline
