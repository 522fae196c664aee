#include "app/questions/diagnose/diagnosis_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/questions/diagnose/measured_number.hpp"
#include "app/questions/varied_quantity.hpp"

namespace paceline {

namespace {

constexpr std::size_t most_advice_shown = 8;

using DiagnosisCells = std::vector<std::string>;

// Returns the rows of a table. Columns are aligned to the left, the last is as long as it is.
std::string left_aligned(const std::vector<DiagnosisCells>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const DiagnosisCells& row : rows)
        for (std::size_t i = 0; i + 1 < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const DiagnosisCells& row : rows) {
        std::string line;
        for (std::size_t i = 0; i + 1 < row.size(); ++i)
            line += fmt::format("{:<{}}  ", row[i], widths[i]);
        line += row.back();
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string numbers_text(const Diagnosis& diagnosis) {
    std::vector<DiagnosisCells> rows{{"measured", "the scenario has", "measured / scenario"}};
    for (const DiagnosedNumber& number : diagnosis.numbers)
        rows.push_back(
            {number.text, number.before ? in_words(*number.before, number.column) : "-",
             number.before ? fmt::format("{:.3g}", number.measured / *number.before) : "-"});
    std::string text = left_aligned(rows);
    if (diagnosis.gradient_s)
        text += fmt::format(
            "the step on one machine sets the time of gradients to {}; the scenario has {}\n",
            seconds_shown(*diagnosis.gradient_s), seconds_shown(diagnosis.stated_gradient_s));
    return text;
}

std::string name_of_tried(const TriedCause& tried) {
    std::vector<std::string> names;
    for (const NeededCause& cause : tried.causes) names.push_back(cause.name);
    return names.empty() ? "nothing: it is as in the scenario"
                         : fmt::format("{}", fmt::join(names, " and "));
}

std::string values_of_tried(const TriedCause& tried) {
    std::vector<std::string> values;
    for (const NeededCause& cause : tried.causes)
        if (!cause.value.empty()) values.push_back(cause.value);
    return fmt::format("{}", fmt::join(values, "; "));
}

std::string name_of_answer(const DiagnosedAnswer& answer) {
    return name_of_tried(answer.either.front());
}

std::string plausible_share(double share) {
    if (share >= 0.995) return "> 99 %";
    return share < 0.005 ? "< 1 %" : fmt::format("{:.0f} %", 100 * share);
}

std::string answers_text(const Diagnosis& diagnosis) {
    if (diagnosis.answers.empty())
        return "none of the causes below explains the numbers, alone or in a pair\n";
    std::vector<DiagnosisCells> rows{
        {diagnosis.are_pairs ? "two causes together explain them" : "explains them", "plausible",
         "needs"}};
    for (const DiagnosedAnswer& answer : diagnosis.answers)
        for (const TriedCause& tried : answer.either)
            rows.push_back(
                {(&tried == answer.either.data() ? "" : "  or ") + name_of_tried(tried),
                 plausible_share(&tried == answer.either.data() ? answer.share : tried.share),
                 values_of_tried(tried)});
    std::string text = left_aligned(rows);
    if (std::ranges::any_of(diagnosis.answers,
                            [](const DiagnosedAnswer& answer) { return answer.either.size() > 1; }))
        text += "\"or\": no measurement considered distinguishes it from the line above\n";
    return text;
}

std::string unfit_text(const char* title, const std::vector<UnfitCause>& causes) {
    if (causes.empty()) return "";
    std::vector<DiagnosisCells> rows{{title, ""}};
    for (const UnfitCause& cause : causes) rows.push_back({cause.name, cause.why});
    return "\n" + left_aligned(rows);
}

std::string next_text(const Diagnosis& diagnosis) {
    if (diagnosis.answers.size() < 2) return "";
    if (!diagnosis.next) {
        if (diagnosis.answers.front().share > 0.9) return "";
        return fmt::format("\nnone of the {} measurements considered would tell them apart\n",
                           diagnosis.measurements_tried);
    }
    const TellingMeasurement& next = *diagnosis.next;
    std::string text = fmt::format("\nto tell them apart, measure {}:\n", next.what);
    std::vector<DiagnosisCells> rows;
    for (std::size_t i = 0; i < diagnosis.answers.size(); ++i)
        if (diagnosis.answers[i].share >= 0.02 && next.expected[i] > 0)
            rows.push_back({"  " + in_words(next.expected[i], next.column),
                            name_of_answer(diagnosis.answers[i])});
    text += left_aligned(rows);
    return text + fmt::format("and add it: --measured {}=...\n", next.asked);
}

std::string advice_text(const DiagnosedAnswer& answer) {
    if (!answer.was_advised) return "";
    const std::string title = answer.is_nothing()
                                  ? "as the scenario is"
                                  : fmt::format("if it is {}", name_of_answer(answer));
    if (answer.advice.empty())
        return fmt::format("\n{}: nothing that was tried gains 5 %\n", title);
    std::vector<DiagnosisCells> rows{
        {fmt::format("what helps {}", title), "times as fast", "a step", "costs"}};
    for (const Advice& advice : answer.advice) {
        if (rows.size() > most_advice_shown) break;
        std::string costs = advice.costs;
        if (advice.memory_gb) costs += fmt::format("; {:.3g} GB per device", *advice.memory_gb);
        rows.push_back({"  " + advice.what, fmt::format("{:.2f}", advice.gain),
                        seconds_shown(advice.step_s), costs});
    }
    return "\n" + left_aligned(rows);
}

Json as_json(const TriedCause& tried) {
    Json causes = Json::array();
    for (const NeededCause& cause : tried.causes)
        causes.push_back({{"cause", cause.key},
                          {"name", cause.name},
                          {"what", cause.what},
                          {"value", cause.value},
                          {"path", cause.path},
                          {"number", cause.number ? Json(*cause.number) : Json()},
                          {"usual", cause.usual}});
    return {{"causes", causes},
            {"share", tried.share},
            {"compute_factor", tried.compute},
            {"predicted", tried.predicted},
            {"farthest", tried.farthest},
            {"patch", Json::parse(tried.patch)}};
}

Json as_json(const DiagnosedAnswer& answer) {
    Json either = Json::array();
    for (const TriedCause& tried : answer.either) either.push_back(as_json(tried));
    Json advice = Json::array();
    for (const Advice& one : answer.advice)
        advice.push_back({{"change", one.key},
                          {"what", one.what},
                          {"costs", one.costs},
                          {"step_time_s", one.step_s},
                          {"gain", one.gain},
                          {"memory_gb", one.memory_gb ? Json(*one.memory_gb) : Json()},
                          {"patch", Json::parse(one.patch)}});
    return {{"name", name_of_answer(answer)},
            {"share", answer.share},
            {"either", either},
            {"step_time_s", answer.was_advised ? Json(answer.step_s) : Json()},
            {"advice", answer.was_advised ? advice : Json()}};
}

Json as_json(const std::vector<UnfitCause>& causes) {
    Json list = Json::array();
    for (const UnfitCause& cause : causes)
        list.push_back({{"cause", cause.key}, {"name", cause.name}, {"why", cause.why}});
    return list;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
    std::string text = numbers_text(diagnosis) + "\n" + answers_text(diagnosis);
    text += unfit_text("does not explain them", diagnosis.unfit);
    text += unfit_text("not in this scenario", diagnosis.impossible);
    text += next_text(diagnosis);
    for (const DiagnosedAnswer& answer : diagnosis.answers) text += advice_text(answer);
    return text + fmt::format("\n{} points simulated; noise of a number: {:.3g} % (--noise)\n",
                              diagnosis.points, 100 * diagnosis.noise);
}

std::string diagnosis_json(const Diagnosis& diagnosis) {
    Json numbers = Json::array();
    for (const DiagnosedNumber& number : diagnosis.numbers)
        numbers.push_back({{"text", number.text},
                           {"column", number.column},
                           {"measured", number.measured},
                           {"before", number.before ? Json(*number.before) : Json()}});
    Json answers = Json::array();
    for (const DiagnosedAnswer& answer : diagnosis.answers) answers.push_back(as_json(answer));
    Json next;
    if (diagnosis.next)
        next = {{"what", diagnosis.next->what},
                {"measured", diagnosis.next->asked},
                {"column", diagnosis.next->column},
                {"device_seconds", diagnosis.next->device_seconds},
                {"expected", diagnosis.next->expected}};
    const Json json{{"title", diagnosis.title},
                    {"scenario", diagnosis.file},
                    {"noise", diagnosis.noise},
                    {"gradient_s", diagnosis.gradient_s ? Json(*diagnosis.gradient_s) : Json()},
                    {"stated_gradient_s", diagnosis.stated_gradient_s},
                    {"numbers", numbers},
                    {"pairs", diagnosis.are_pairs},
                    {"answers", answers},
                    {"unfit", as_json(diagnosis.unfit)},
                    {"impossible", as_json(diagnosis.impossible)},
                    {"next", next},
                    {"points", diagnosis.points}};
    return json.dump(2) + "\n";
}

}  // namespace paceline
