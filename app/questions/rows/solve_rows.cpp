#include "app/questions/rows/solve_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/scenario/study_faults.hpp"
#include "app/scenario/study_plan.hpp"

namespace paceline {

namespace {

std::string name_of_row(const std::vector<Axis>& axes, const std::vector<std::size_t>& choice) {
    std::vector<std::string> words;
    for (std::size_t a = 0; a < axes.size(); ++a)
        words.push_back(fmt::format("{} {}", axes[a].path, axes[a].names[choice[a]]));
    return fmt::format("{}", fmt::join(words, ", "));
}

// Calls `ask` with each row. Throws the first refusal if all rows refuse.
template <class Ask>
void ask_each(const SolveRows& rows, Ask ask) {
    std::optional<ConfigError> first;
    std::size_t refused = 0;
    for (const SolveRow& row : rows.rows) {
        try {
            if (!row.refusal.empty()) throw ConfigError("command line", "--vary", row.refusal);
            ask(row, std::string());
        } catch (const ConfigError& error) {
            ++refused;
            if (!first) first.emplace(error);
            ask(row, error.problem());
        }
    }
    if (first && refused == rows.rows.size()) throw ConfigError(*first);
}

// A fault of the study is a fault of the whole question; rows refuse what comes from --vary.
void check_study(const ScenarioText& scenario, const SolveQuestion& question) {
    PlanFaults wrong;
    if (make_study_plan(scenario, question.settings, question.picks, wrong).points > 1)
        (void)read_study(scenario, question.settings, question.picks);
}

}  // namespace

SolveRows solve_rows(const SolveQuestion& question, const ScenarioText& scenario) {
    const VariedQuantity varied = check_question(question);
    check_study(scenario, question);
    Settings settings = question.settings;
    settings.push_back(varied.setting(varied.from));
    PlanFaults wrong;
    const StudyPlan plan = make_study_plan(scenario, settings, question.picks, wrong);
    refuse_if_wrong(plan, wrong);
    SolveRows rows{plan.title, question, plan.sweep.shown_axes(), {}};
    rows.question.settings.clear();
    rows.question.picks.clear();
    if (plan.points > most_solve_rows) {
        std::vector<std::string_view> paths;
        for (const Axis& axis : rows.axes) paths.emplace_back(axis.path);
        throw ConfigError(
            scenario.file, "sweep",
            fmt::format("makes {} points, and each would be a row with its own search (at most "
                        "{}); pick values of axes with --pick axis=label: {}",
                        plan.points, most_solve_rows, fmt::join(paths, ", ")));
    }
    for (std::size_t number = 0; number < plan.points; ++number) {
        const std::vector<std::size_t> choice = plan.sweep.choice(number);
        PlanFaults of_row;
        const Json resolved = resolve_point(plan, choice, of_row);
        rows.rows.push_back({choice,
                             name_of_row(rows.axes, choice),
                             {scenario.file, resolved_text(resolved), scenario.sources},
                             of_row.faults.empty() ? "" : of_row.faults.front().problem()});
    }
    return rows;
}

std::vector<std::string> solve_rows_warnings(const SolveRows& rows) {
    std::vector<std::string> lines;
    ask_each(rows, [&](const SolveRow& row, const std::string& refusal) {
        if (!refusal.empty()) return;
        for (std::string& line : solve_warnings(rows.question, row.scenario))
            if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    });
    return lines;
}

std::vector<SolvedRow> solve_all(const SolveRows& rows, const Evaluate& evaluate) {
    std::vector<SolvedRow> solved;
    ask_each(rows, [&](const SolveRow& row, const std::string& refusal) {
        if (refusal.empty())
            solved.push_back({solve(rows.question, row.scenario, evaluate)});
        else
            solved.push_back({std::nullopt, refusal});
    });
    return solved;
}

SearchedStudy searched_study(const SolveRows& rows, const std::vector<SolvedRow>& solved) {
    std::set<double> values;
    for (const SolvedRow& row : solved)
        if (row.solution)
            for (const SolvedPoint& ran : row.solution->ran) values.insert(ran.value);
    std::vector<Axis> axes = rows.axes;
    Axis& varied = axes.emplace_back();
    for (const SolvedRow& row : solved) {
        if (!row.solution) continue;
        varied.path = row.solution->varied.path;
        varied.names.clear();
        for (const double value : values)
            varied.names.push_back(row.solution->varied.spelled(value));
    }
    std::vector<Point> points;
    std::vector<PointResult> results;
    for (std::size_t i = 0; i < solved.size(); ++i) {
        if (!solved[i].solution) continue;
        for (const SolvedPoint& ran : solved[i].solution->ran) {
            Point& point = points.emplace_back(ran.point);
            point.number = points.size() - 1;
            point.choice = rows.rows[i].choice;
            point.choice.push_back(
                static_cast<std::size_t>(std::distance(values.begin(), values.find(ran.value))));
            results.push_back({ran.metrics, 0});
        }
    }
    return {{rows.question.file, rows.title, std::move(axes), Points(std::move(points))},
            std::move(results)};
}

}  // namespace paceline
