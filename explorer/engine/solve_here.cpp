#include "explorer/engine/solve_here.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/measures/crossings.hpp"
#include "app/json/config_error.hpp"
#include "app/questions/varied_quantity.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"

namespace paceline {

namespace {

// A column of the scenario with settings, as a function of the varied quantity. Points run once.
class Column {
  public:
    Column(const ScenarioText& scenario, const VariedQuantity& varied, std::string name)
        : scenario_(scenario), varied_(varied), name_(std::move(name)) {}

    std::optional<double> at(double value, Settings settings) {
        settings.push_back(varied_.setting(value));
        const Point point = read_single_point(scenario_, settings);
        const auto [known, is_new] = values_.try_emplace(point.resolved);
        if (is_new) {
            const Metrics metrics = run_point(point.scenario, nullptr);
            if (!metrics.failed() && metrics.outcome != "diverged" &&
                !metrics.ended_before_a_step())
                known->second = column_value(name_, metrics);
        }
        return known->second;
    }
    [[nodiscard]] std::size_t points() const { return values_.size(); }

  private:
    const ScenarioText& scenario_;
    const VariedQuantity& varied_;
    std::string name_;
    std::map<std::string, std::optional<double>> values_;  // by the point's JSON
};

std::string name_of(ChangeKind kind) {
    switch (kind) {
        case ChangeKind::crossing:
            return "crossing";
        case ChangeKind::jump:
            return "jump";
        case ChangeKind::equal:
            return "equal";
        case ChangeKind::hidden:
            return "hidden";
    }
    return "";
}

Json json_of(const Change& change, const VariedQuantity& varied) {
    return {{"kind", name_of(change.kind)},
            {"at", varied.in_base_unit(change.at)},
            {"shown", varied.shown(change.at, 3)},
            {"above_before", change.before == Side::above}};
}

}  // namespace

Json solve_here(const Json& request, const ScenarioText& scenario) {
    const VariedQuantity varied = read_varied_quantity(request.at("vary").get<std::string>());
    const Settings mine = request.value("set", Settings{});
    const Settings theirs = request.value("against", Settings{});
    Column column(scenario, varied, request.at("find").get<std::string>());
    Search search;
    const bool wide = varied.from > 0 && varied.to / varied.from > 10;
    search.scale = wide ? Scale::logarithmic : Scale::linear;
    search.step = varied.step();
    search.tolerance = request.value("tolerance", 1e-4);
    const auto count = request.value("grid", std::size_t{25});
    const Changes found = find_changes(
        search_grid(varied.from, varied.to, count, search),
        [&](const std::vector<double>& values) {
            std::vector<Sides> sides;
            for (const double value : values)
                sides.push_back({column.at(value, mine), column.at(value, theirs)});
            return sides;
        },
        search);
    Json changes = Json::array();
    for (const Change& change : found.changes) changes.push_back(json_of(change, varied));
    return {{"changes", changes}, {"unit", varied.base_unit()}, {"points", column.points()}};
}

}  // namespace paceline
