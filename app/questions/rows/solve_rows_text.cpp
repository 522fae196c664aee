#include "app/questions/rows/solve_rows_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/measures/csv.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/questions/solve_text.hpp"

namespace paceline {

namespace {

constexpr std::size_t longest_words = 120;

std::vector<std::string> names_on_axes(const SolveRows& rows, const SolveRow& row) {
    std::vector<std::string> names;
    for (std::size_t a = 0; a < rows.axes.size(); ++a)
        names.push_back(rows.axes[a].names[row.choice[a]]);
    return names;
}

std::vector<ShortAnswer> answers_of(const SolveRows& rows, const SolvedRow& solved) {
    if (!solved.solution) return {{"refused", "refused", solved.refusal}};
    return short_answers(rows.question, *solved.solution);
}

std::optional<AnswersAtEnds> at_ends(const SolveRows& rows, const SolvedRow& solved) {
    if (!solved.solution) return std::nullopt;
    return answers_at_ends(rows.question, *solved.solution);
}

bool has_intervals(const SolveRows& rows, const std::vector<SolvedRow>& solved) {
    return std::ranges::any_of(
        solved, [&](const SolvedRow& row) { return at_ends(rows, row).has_value(); });
}

constexpr auto ends = std::to_array<std::string_view>({"at the low end", "at the high end"});

std::string target_words(const SolveQuestion& question) {
    if (question.equals) return fmt::format("{}", *question.equals);
    return fmt::format("{}that of the same point with {}",
                       question.times == 1 ? "" : fmt::format("{} times ", question.times),
                       fmt::join(question.against, " and "));
}

}  // namespace

std::string solved_rows_text(const SolveQuestion& asked, const SolveRows& rows,
                             const std::vector<SolvedRow>& solved) {
    const VariedQuantity varied = check_question(asked);
    std::string text = fmt::format("For which {} from {} to {} is {} equal to {}?\n\n", varied.path,
                                   varied.spelled(varied.from), varied.spelled(varied.to),
                                   asked.column, target_words(asked));
    text += fmt::format("scenario  {}\n", asked.file);
    for (const std::string& setting : asked.settings)
        text += fmt::format("          {}\n", setting);

    std::vector<std::vector<std::string>> cells(1);
    for (const Axis& axis : rows.axes) cells.front().push_back(axis.path);
    const bool with_ends = has_intervals(rows, solved);
    cells.front().push_back(varied.path);
    if (with_ends) cells.front().insert(cells.front().end(), ends.begin(), ends.end());
    cells.front().insert(cells.front().end(), {asked.column, ""});
    std::size_t points = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < solved.size(); ++i) {
        if (solved[i].solution) {
            points += solved[i].solution->points;
            kept += solved[i].solution->kept;
        }
        for (const ShortAnswer& answer : answers_of(rows, solved[i])) {
            std::vector<std::string>& line = cells.emplace_back(names_on_axes(rows, rows.rows[i]));
            line.push_back(answer.place);
            if (with_ends) {
                const auto at = at_ends(rows, solved[i]);
                line.push_back(at ? at->low : "-");
                line.push_back(at ? at->high : "-");
            }
            line.push_back(answer.value ? fmt::format("{:.6g}", *answer.value) : "-");
            line.push_back(one_line(answer.what, longest_words));
        }
    }
    std::vector<std::size_t> widths(cells.front().size(), 0);
    for (const auto& line : cells)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    for (const auto& line : cells) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i)
            row += fmt::format("{}{:<{}}", i == 0 ? "" : "  ", line[i], widths[i]);
        row.erase(row.find_last_not_of(' ') + 1);
        text += (&line == &cells.front() ? "\n" : "") + row + "\n";
    }
    return text + fmt::format("\n{} points used, {} of them from earlier runs\n", points, kept);
}

std::string solved_rows_json(const SolveRows& rows, const std::vector<SolvedRow>& solved) {
    Json json{{"rows", Json::array()}};
    for (std::size_t i = 0; i < solved.size(); ++i) {
        Json row;
        const std::vector<std::string> names = names_on_axes(rows, rows.rows[i]);
        for (std::size_t a = 0; a < names.size(); ++a) row["row"][rows.axes[a].path] = names[a];
        if (solved[i].solution)
            row.update(Json::parse(solution_json(rows.question, *solved[i].solution)));
        else
            row["refused"] = solved[i].refusal;
        json["rows"].push_back(std::move(row));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string answers_csv(const SolveRows& rows, const std::vector<SolvedRow>& solved) {
    const SolveQuestion& question = rows.question;
    const VariedQuantity asked = check_question(question);
    std::vector<std::string> header;
    for (const Axis& axis : rows.axes) header.push_back(csv_field(axis.path));
    for (const char* name : {"vary", "column", "target", "answer", "at", "number", "value", "what"})
        header.emplace_back(name);
    const bool with_ends = has_intervals(rows, solved);
    if (with_ends)
        for (const char* name : {"answer_at_low_end", "answer_at_high_end"})
            header.emplace_back(name);
    std::string text = csv_row(header);
    for (std::size_t i = 0; i < solved.size(); ++i)
        for (const ShortAnswer& answer : answers_of(rows, solved[i])) {
            const VariedQuantity& varied = solved[i].solution ? solved[i].solution->varied : asked;
            std::vector<std::string> line;
            for (const std::string& name : names_on_axes(rows, rows.rows[i]))
                line.push_back(csv_field(name));
            line.push_back(csv_field(varied.path));
            line.push_back(csv_field(question.column));
            line.push_back(csv_field(question.equals));
            line.push_back(answer.kind);
            line.push_back(answer.at ? csv_field(varied.spelled(*answer.at)) : "");
            line.push_back(answer.at ? csv_field(varied.in_base_unit(*answer.at)) : "");
            line.push_back(csv_field(answer.value));
            line.push_back(csv_field(answer.what));
            if (with_ends) {
                const auto at = at_ends(rows, solved[i]);
                line.push_back(at ? csv_field(at->low) : "");
                line.push_back(at ? csv_field(at->high) : "");
            }
            text += csv_row(line);
        }
    return text;
}

}  // namespace paceline
