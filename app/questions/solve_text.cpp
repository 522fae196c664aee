#include "app/questions/solve_text.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr std::size_t all_rows = 40;

int digits_of(const Search& search) {
    const double tolerance = search.tolerance > 0 ? search.tolerance : 1e-4;
    return std::clamp(static_cast<int>(std::ceil(-elementary::log10(tolerance))) + 2, 4, 15);
}

std::string number(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}g}", *value, digits) : "-";
}

// Formats values of the varied quantity and of the column.
class Wording {
  public:
    Wording(const SolveQuestion& question, const Solution& solution)
        : question_(question), solution_(solution), digits_(digits_of(solution.search)) {}

    [[nodiscard]] std::string value(double x) const { return solution_.varied.shown(x, digits_); }
    [[nodiscard]] std::string on_grid(double x) const { return solution_.varied.spelled(x); }
    [[nodiscard]] std::string both(const Sample& sample) const {
        return fmt::format("{} against {}", number(sample.at.left, digits_ + 2),
                           number(sample.at.right, digits_ + 2));
    }
    [[nodiscard]] bool whole() const { return solution_.varied.kind == QuantityKind::whole_number; }
    [[nodiscard]] std::string target() const {
        if (question_.equals) return fmt::format("{}", *question_.equals);
        return question_.times == 1 ? "the other"
                                    : fmt::format("{} times the other", question_.times);
    }
    [[nodiscard]] std::string relation(Side side) const {
        switch (side) {
            case Side::above:
                return fmt::format("above {}", target());
            case Side::below:
                return fmt::format("below {}", target());
            case Side::equal:
                return fmt::format("equal to {}", target());
            case Side::gap:
                break;
        }
        return "not known";
    }

  private:
    const SolveQuestion& question_;
    const Solution& solution_;
    int digits_;
};

void add_lines(std::string& text, std::string_view title, const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        text += fmt::format("{:<9}  {}\n", &line == &lines.front() ? title : "", line);
}

std::string question_text(const SolveQuestion& question, const Solution& solution,
                          const Wording& wording) {
    const VariedQuantity& varied = solution.varied;
    std::string text = fmt::format("For which {} from {} to {} is {} {}?\n\n", varied.path,
                                   wording.on_grid(varied.from), wording.on_grid(varied.to),
                                   question.column, wording.relation(Side::equal));
    std::vector<std::string> lines{question.file};
    lines.insert(lines.end(), question.settings.begin(), question.settings.end());
    add_lines(text, "scenario", lines);
    if (question.equals) return text;
    lines = question.against;
    lines.insert(lines.begin(), fmt::format("the same, {}, but", solution.other_varies
                                                                     ? "at the same value"
                                                                     : "with its own fixed value"));
    add_lines(text, "the other", lines);
    return text;
}

// "falls below 0.5"
std::string turn(const Wording& wording, const Change& change) {
    return fmt::format("{} {} {}", change.after == Side::above ? "rises" : "falls",
                       change.after == Side::above ? "above" : "below", wording.target());
}

// Says where a change is.
std::string place_of(const Wording& wording, const Change& change) {
    const std::string first = wording.value(change.first.x);
    const std::string last = wording.value(change.last.x);
    switch (change.kind) {
        case ChangeKind::crossing:
            return wording.whole() ? fmt::format("from {} on", last)
                                   : fmt::format("at {}", wording.value(change.at));
        case ChangeKind::jump:
            return fmt::format("between {} and {}", first, last);
        case ChangeKind::hidden:
            return fmt::format("somewhere between {} and {}, inside a gap", first, last);
        case ChangeKind::equal:
            break;
    }
    return change.first.x == change.last.x ? fmt::format("at {} exactly", first)
                                           : fmt::format("from {} to {}", first, last);
}

// Says what the column does there.
std::string what_changes(const Wording& wording, const Change& change) {
    if (change.kind != ChangeKind::equal)
        return turn(wording, change) + (change.kind == ChangeKind::jump ? " in a jump" : "");
    return fmt::format("{}{} before it, {} after it",
                       change.first.x == change.last.x ? "" : "equal; ",
                       wording.relation(change.before), wording.relation(change.after));
}

std::string answer(const SolveQuestion& question, const Wording& wording, const Change& change) {
    const std::string first = wording.value(change.first.x);
    const std::string last = wording.value(change.last.x);
    std::string line = place_of(wording, change) + ": ";
    if (change.kind != ChangeKind::equal) line += question.column + " ";
    line += what_changes(wording, change);
    line += fmt::format("\n  {}: {}\n", first, wording.both(change.first));
    if (change.first.x == change.last.x) return line;
    return line + fmt::format("  {}: {}\n", last, wording.both(change.last));
}

// The first and the last sample whose sides are known. Requires that there is one.
std::pair<const Sample&, const Sample&> known_ends(const Changes& found) {
    const auto known = [](const Sample& s) { return s.side() != Side::gap; };
    const auto reversed = std::views::reverse(found.samples);
    return {*std::ranges::find_if(found.samples, known), *std::ranges::find_if(reversed, known)};
}

std::string no_answer(const Wording& wording, const Solution& solution) {
    const Changes& found = solution.found;
    if (!found.closest) return "no value is known anywhere in the range; see the gaps below\n";
    const auto [first, last] = known_ends(found);
    return fmt::format("nowhere{}: {} from {} to {}\n  {}: {}\n  {}: {}\n  closest at {}: {}\n",
                       found.gaps.empty() ? "" : " where it is known",
                       wording.relation(first.side()), wording.value(first.x),
                       wording.value(last.x), wording.value(first.x), wording.both(first),
                       wording.value(last.x), wording.both(last), wording.value(found.closest->x),
                       wording.both(*found.closest));
}

std::string places_of(const Wording& wording, const Changes& found) {
    std::vector<std::string> places;
    for (const Change& change : found.changes) {
        if (wording.whole() || change.kind != ChangeKind::crossing)
            places.push_back(fmt::format("between {} and {}", wording.value(change.first.x),
                                         wording.value(change.last.x)));
        else
            places.push_back(fmt::format("at {}", wording.value(change.at)));
    }
    return places.empty() ? "nowhere" : fmt::format("{}", fmt::join(places, ", "));
}

std::string closed_form_text(const Wording& wording, const Solution& solution) {
    if (!solution.closed_form) return "";
    return fmt::format("by the closed forms: {}\n", places_of(wording, *solution.closed_form));
}

// Says where the answers are at both ends of the interval, and where an order is not sure.
std::string interval_text(const SolveQuestion& question, const Wording& wording,
                          const Solution& solution) {
    if (!solution.at_low || !solution.at_high) return "";
    const bool of_ratio = !question.equals;
    std::string text = fmt::format(
        "90 % prediction interval ({}docs/trust.md): at the low end of {}, {}; at the high end, "
        "{}\n",
        of_ratio ? "the same machines for both; " : "", of_ratio ? "the ratio" : question.column,
        places_of(wording, *solution.at_low), places_of(wording, *solution.at_high));
    const std::optional<UnsureRange> unsure = unsure_range(solution);
    if (!unsure) return text;
    return text + fmt::format("{} is uncertain from {} to {}\n",
                              of_ratio ? "which of the two is larger"
                                       : fmt::format("whether it is above {}", *question.equals),
                              wording.value(unsure->first), wording.value(unsure->last));
}

std::string gaps_text(const Wording& wording, const Solution& solution) {
    std::string text;
    for (const Gap& gap : solution.found.gaps)
        text += fmt::format(
            "no value {}: {}\n",
            gap.first == gap.last
                ? fmt::format("at {}", wording.value(gap.first))
                : fmt::format("from {} to {}", wording.value(gap.first), wording.value(gap.last)),
            solution.why_gap.at(gap.first));
    return text;
}

// Returns whether a row of a long grid is shown: ends, changes of side and their neighbors, and
// every n-th row.
bool is_told(const std::vector<Sample>& rows, std::size_t i) {
    if (rows.size() <= all_rows || i == 0 || i + 1 == rows.size()) return true;
    const std::size_t every = (rows.size() + all_rows / 2 - 1) / (all_rows / 2);
    return i % every == 0 || rows[i].side() != rows[i - 1].side() ||
           rows[i].side() != rows[i + 1].side();
}

std::string_view sign(Side side) {
    switch (side) {
        case Side::above:
            return ">";
        case Side::below:
            return "<";
        case Side::equal:
            return "=";
        case Side::gap:
            break;
    }
    return "?";
}

std::string table_text(const SolveQuestion& question, const Solution& solution,
                       const Wording& wording) {
    const std::set<double> on_grid(solution.grid.begin(), solution.grid.end());
    std::vector<Sample> rows;
    for (const Sample& sample : solution.found.samples)
        if (on_grid.contains(sample.x)) rows.push_back(sample);
    std::size_t width = solution.varied.path.size();
    for (const Sample& row : rows) width = std::max(width, wording.on_grid(row.x).size());
    std::string text =
        fmt::format("{:>{}}  {:>{}}     {}\n", solution.varied.path, width, question.column,
                    std::max<std::size_t>(12, question.column.size()), wording.target());
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!is_told(rows, i)) {
            ++left_out;
            continue;
        }
        text += fmt::format("{:>{}}  {:>{}}  {}  {}\n", wording.on_grid(rows[i].x), width,
                            number(rows[i].at.left, 6),
                            std::max<std::size_t>(12, question.column.size()), sign(rows[i].side()),
                            number(rows[i].at.right, 6));
    }
    if (left_out > 0) text += fmt::format("({} more rows with --json)\n", left_out);
    return text;
}

Json value_json(const VariedQuantity& varied, double x) {
    const bool plain = varied.step() == 0 || varied.kind == QuantityKind::whole_number;
    return {{"value", plain ? Json::parse(varied.spelled(x)) : Json(varied.spelled(x))},
            {"number", varied.in_base_unit(x)}};
}

Json unsure_json(const VariedQuantity& varied, const std::optional<UnsureRange>& range) {
    if (!range) return {};
    return {{"from", value_json(varied, range->first)}, {"to", value_json(varied, range->last)}};
}

Json optional_json(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json side_json(Side side) {
    switch (side) {
        case Side::above:
            return "above";
        case Side::below:
            return "below";
        case Side::equal:
            return "equal";
        case Side::gap:
            break;
    }
    return nullptr;
}

Json pair_json(const Sides& at) {
    return Json::array({optional_json(at.left), optional_json(at.right)});
}

Json answers_json(const VariedQuantity& varied, const Changes& found) {
    Json answers = Json::array();
    for (const Change& change : found.changes)
        answers.push_back(
            {{"kind", name_of(change.kind)},
             {"at", value_json(varied, change.at)},
             {"from", value_json(varied, change.first.x)},
             {"to", value_json(varied, change.last.x)},
             {"before", side_json(change.before)},
             {"after", side_json(change.after)},
             {"values",
              {{"from", pair_json(change.first.at)}, {"to", pair_json(change.last.at)}}}});
    return answers;
}

Json sample_json(const VariedQuantity& varied, const Sample& sample) {
    Json json = value_json(varied, sample.x);
    json["left"] = optional_json(sample.at.left);
    json["right"] = optional_json(sample.at.right);
    return json;
}

Json question_json(const SolveQuestion& question, const Solution& solution) {
    const VariedQuantity& varied = solution.varied;
    const bool logarithmic = solution.search.scale == Scale::logarithmic;
    Json json{{"scenario", question.file},
              {"settings", question.settings},
              {"picks", question.picks},
              {"vary",
               {{"path", varied.path},
                {"from", value_json(varied, varied.from)},
                {"to", value_json(varied, varied.to)},
                {"scale", logarithmic ? "logarithmic" : "linear"},
                {"unit", varied.base_unit()}}},
              {"column", question.column}};
    if (question.equals)
        json["equals"] = *question.equals;
    else
        json.update({{"against", question.against},
                     {"times", question.times},
                     {"other_varies", solution.other_varies}});
    json["tolerance"] = solution.search.tolerance;
    return json;
}

}  // namespace

std::string_view name_of(ChangeKind kind) {
    switch (kind) {
        case ChangeKind::crossing:
            return "crossing";
        case ChangeKind::jump:
            return "jump";
        case ChangeKind::equal:
            return "equal";
        case ChangeKind::hidden:
            break;
    }
    return "hidden";
}

std::vector<ShortAnswer> short_answers(const SolveQuestion& question, const Solution& solution) {
    const Wording wording(question, solution);
    const Changes& found = solution.found;
    if (!found.closest)
        return {{"unknown", "nowhere",
                 found.gaps.empty() ? "no value is known"
                                    : solution.why_gap.at(found.gaps.front().first)}};
    if (found.changes.empty()) {
        const auto [first, last] = known_ends(found);
        return {{"nowhere", "nowhere",
                 fmt::format("{} from {} to {}", wording.relation(first.side()),
                             wording.value(first.x), wording.value(last.x)),
                 std::nullopt, found.closest->at.left}};
    }
    std::vector<ShortAnswer> answers;
    for (const Change& change : found.changes) {
        const bool is_first_nearer =
            !wording.whole() && change.before != Side::gap &&
            std::abs(change.first.difference()) < std::abs(change.last.difference());
        const Sample& nearer = is_first_nearer ? change.first : change.last;
        answers.push_back({std::string(name_of(change.kind)), place_of(wording, change),
                           what_changes(wording, change),
                           wording.whole() ? change.last.x : change.at, nearer.at.left});
    }
    return answers;
}

std::optional<AnswersAtEnds> answers_at_ends(const SolveQuestion& question,
                                             const Solution& solution) {
    if (!solution.at_low || !solution.at_high) return std::nullopt;
    const Wording wording(question, solution);
    return AnswersAtEnds{places_of(wording, *solution.at_low),
                         places_of(wording, *solution.at_high)};
}

std::string solution_text(const SolveQuestion& question, const Solution& solution) {
    const Wording wording(question, solution);
    std::string text = question_text(question, solution, wording) + "\n";
    if (solution.found.changes.empty()) text += no_answer(wording, solution);
    for (const Change& change : solution.found.changes) text += answer(question, wording, change);
    text += interval_text(question, wording, solution) + closed_form_text(wording, solution) +
            gaps_text(wording, solution) + "\n";
    text += table_text(question, solution, wording);
    return text + fmt::format("\n{} points used, {} of them from earlier runs\n", solution.points,
                              solution.kept);
}

std::string solution_json(const SolveQuestion& question, const Solution& solution) {
    const VariedQuantity& varied = solution.varied;
    const std::set<double> on_grid(solution.grid.begin(), solution.grid.end());
    Json json{
        {"question", question_json(question, solution)},
        {"answers", answers_json(varied, solution.found)},
        {"closed_form",
         solution.closed_form ? answers_json(varied, *solution.closed_form) : Json()},
        {"at_low", solution.at_low ? answers_json(varied, *solution.at_low) : Json()},
        {"at_high", solution.at_high ? answers_json(varied, *solution.at_high) : Json()},
        {"unsure", unsure_json(varied, unsure_range(solution))},
        {"closest", solution.found.closest ? sample_json(varied, *solution.found.closest) : Json()},
        {"gaps", Json::array()},
        {"samples", Json::array()},
        {"points", solution.points},
        {"kept", solution.kept}};
    for (const Gap& gap : solution.found.gaps)
        json["gaps"].push_back({{"from", value_json(varied, gap.first)},
                                {"to", value_json(varied, gap.last)},
                                {"why", solution.why_gap.at(gap.first)}});
    for (const Sample& sample : solution.found.samples) {
        Json one = sample_json(varied, sample);
        one["on_grid"] = on_grid.contains(sample.x);
        json["samples"].push_back(std::move(one));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paceline
