#include "explorer/engine/answers.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/measures/training_log.hpp"
#include "analysis/traces/chrome_trace.hpp"
#include "analysis/traces/trace_recorder.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/questions/check_text.hpp"
#include "app/questions/diagnose/diagnose.hpp"
#include "app/questions/diagnose/diagnosis_text.hpp"
#include "app/questions/explain.hpp"
#include "app/questions/list_json.hpp"
#include "app/questions/solve_text.hpp"
#include "app/run/comparisons.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/run/step_costs.hpp"
#include "app/run/trace_machine.hpp"
#include "app/scenario/memory_estimate.hpp"
#include "app/scenario/study.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline {

struct LastRead {
    Json files;
    Sources sources;  // share what has been read
    std::string text{};
    std::optional<Study> study{};
};

namespace {

constexpr std::int64_t most_memory = std::int64_t{3} << 30;  // a page has 4 GiB of addresses

const Json& file_of(const Json& files, const std::string& name) {
    const auto found = files.find(name);
    if (found == files.end())
        throw ConfigError(name, "", "the scenario names this file; drop it on the page, too");
    return *found;
}

Sources sources_of(const Json& files) {
    Sources sources;
    sources.text = [files](const std::string& name) {
        return file_of(files, name).get<std::string>();
    };
    sources.data = [files](const std::string& name) {
        const auto text = file_of(files, name).get<std::string>();
        return std::vector<unsigned char>(text.begin(), text.end());
    };
    sources.available_memory = [] { return AvailableMemory{Bytes{most_memory}}; };
    return sources;
}

// Forgets what was read of other files.
ScenarioText scenario_of(const Json& request, std::unique_ptr<LastRead>& last) {
    Json files = request.value("files", Json::object());
    if (last == nullptr || last->files != files) {
        last.reset();  // before the next one takes its memory
        Sources sources = sources_of(files);
        last = std::make_unique<LastRead>(LastRead{std::move(files), std::move(sources)});
    }
    return {request.value("name", std::string("scenario")),
            request.at("scenario").get<std::string>(), last->sources};
}

Json axes_of(const Study& study) {
    Json axes = Json::array();
    for (const Axis& axis : study.axes)
        axes.push_back({{"path", axis.path}, {"names", axis.names}});
    return axes;
}

// Returns the least number of steps that has the rated steps of the scenario, and with which a
// period ends; null if only time ends the run.
Json whole_rated_steps(const Scenario& scenario) {
    const auto steps = scenario.steps();
    if (!steps) return {};
    return steps_to_whole(scenario, skipped_steps(scenario) + *steps - scenario.skip);
}

Json describe(const Json& request, const Study& study) {
    Json points = Json::array();
    bool trains = false;
    StudyCheck check;
    const bool wants_report = request.value("report", false);
    for (const Point& point : study.points) {
        trains = trains || point.scenario.training.has_value();
        if (wants_report) check.see(point);
        points.push_back({{"choice", point.choice},
                          {"algorithm", point.scenario.algorithm.label},
                          {"nodes", point.scenario.cluster.nodes},
                          {"last_stage", begin_of_last_stage(point.scenario)},
                          {"whole_steps", whole_rated_steps(point.scenario)}});
    }
    Json description{
        {"title", study.title}, {"axes", axes_of(study)}, {"points", points}, {"trains", trains}};
    if (!wants_report) return description;
    const CheckReport report = check.report(study);
    description["report"] = report.text;
    description["warnings"] = report.warnings;
    return description;
}

void check_memory_of(const Point& point, const Study& study) {
    const Bytes needed = estimated_memory(point.scenario);
    if (needed.count <= most_memory) return;
    throw ConfigError(study.file, "",
                      fmt::format("point {} would need about {:.1f} GiB of memory, and a page has "
                                  "3; paceline run can use all of the machine's memory",
                                  point.number, static_cast<double>(needed.count) / (1 << 30)));
}

Json run(const Json& request, const Study& study, const OnProgress& on_progress) {
    std::vector<PointResult> results(study.points.size());
    bool trains = false;
    for (const std::size_t number : request.at("points").get<std::vector<std::size_t>>()) {
        const Point point = study.points[number];
        check_memory_of(point, study);
        trains = trains || point.scenario.training.has_value();
        Observer observer;
        observer.evaluated = [&](const Evaluation& e) {
            Json progress{{"point", number},
                          {"sim_time_s", e.sim_time_s},
                          {"iteration", e.iteration},
                          {"train_loss", e.train_loss},
                          {"test_loss", e.test_loss}};
            if (e.test_accuracy) progress["test_accuracy"] = *e.test_accuracy;
            on_progress(progress.dump());
        };
        results[number].metrics =
            run_point(point.scenario, nullptr, {}, point.scenario.training ? &observer : nullptr);
    }
    const RanPoints ran(study, results);
    const std::optional<std::string> comparisons = comparisons_csv(ran);
    return {{"csv", results_csv(ran)},
            {"timeline", trains ? Json(timeline_csv(ran)) : Json()},
            {"comparisons", comparisons ? Json(*comparisons) : Json()}};
}

std::size_t point_of(const Json& request, const Study& study) {
    const auto number = request.value("point", std::size_t{0});
    return point_to_explain(study, number);
}

Json explain(const Json& request, const Study& study) {
    ExplainOptions options;
    options.most_messages = request.value("most_messages", options.most_messages);
    const Explanation explanation = explain_point(study, point_of(request, study), options);
    return {{"explanation", Json::parse(explanation_json(explanation))},
            {"text", explanation_text(explanation)}};
}

Json trace(const Json& request, const Study& study) {
    Scenario scenario = as_explained(study.points[point_of(request, study)].scenario);
    const auto step = request.value("step", std::int64_t{0});
    scenario.stop = {};
    scenario.skip = 0;
    scenario.stop.iterations = std::max(scenario.algorithm.period, step + 1);
    TraceFilter filter;
    filter.first_step = filter.last_step = step;
    filter.limit = request.value("limit", std::uint64_t{60'000});
    std::optional<TraceRecorder> recorder;
    Observer observer;
    observer.begins = [&](const Machine& machine) {
        recorder.emplace(trace_machine(machine, std::nullopt), filter);
        observer.network = recorder->network_observer();
        observer.workers = recorder->worker_observer();
    };
    observer.ends = [&](const Cluster&) { recorder->finish(); };
    const Metrics metrics = run_point(scenario, nullptr, {}, &observer);
    std::string text;
    write_chrome_trace(*recorder, {{"simulated_by", "paceline"}},
                       [&](std::string_view piece) { text += piece; });
    return {{"trace", text}, {"cut", recorder->cut_at().has_value()}, {"outcome", metrics.outcome}};
}

SolveQuestion question_of(const Json& request) {
    SolveQuestion question;
    question.settings = request.value("set", Settings{});
    question.vary = request.at("vary").get<std::string>();
    question.column = request.at("find").get<std::string>();
    if (request.contains("equals")) question.equals = request["equals"].get<double>();
    question.against = request.value("against", Settings{});
    if (request.contains("grid")) question.grid = request["grid"].get<std::size_t>();
    question.tolerance = request.value("tolerance", question.tolerance);
    return question;
}

Json changes_of(const VariedQuantity& varied, const Changes& found) {
    Json changes = Json::array();
    for (const Change& change : found.changes)
        changes.push_back({{"kind", name_of(change.kind)},
                           {"at", varied.in_base_unit(change.at)},
                           {"shown", varied.shown(change.at, 3)},
                           {"above_before", change.before == Side::above}});
    return changes;
}

Json solve(const Json& request, const ScenarioText& scenario) {
    const Solution solution = paceline::solve(question_of(request), scenario, in_turn);
    const VariedQuantity& varied = solution.varied;
    const auto first = std::ranges::find_if(
        solution.found.samples, [](const Sample& sample) { return sample.side() != Side::gap; });
    const bool above = first != solution.found.samples.end() && first->side() == Side::above;
    const std::optional<UnsureRange> unsure = unsure_range(solution);
    return {{"changes", changes_of(varied, solution.found)},
            {"at_low", solution.at_low ? changes_of(varied, *solution.at_low) : Json()},
            {"at_high", solution.at_high ? changes_of(varied, *solution.at_high) : Json()},
            {"unsure",
             unsure ? Json{varied.shown(unsure->first, 3), varied.shown(unsure->last, 3)} : Json()},
            {"unit", varied.base_unit()},
            {"points", solution.points},
            {"above_at_first", above}};
}

Json diagnose(const Json& request, const ScenarioText& scenario) {
    DiagnoseQuestion question;
    question.scenario = scenario;
    question.measured = request.at("measured").get<std::vector<std::string>>();
    const Diagnosis found = paceline::diagnose(question, in_turn);
    return {{"diagnosis", Json::parse(diagnosis_json(found))}, {"text", diagnosis_text(found)}};
}

// Reads a study and holds its points, as long as these are few and have no data: the page asks for
// each of them three times.
Study read_and_hold(const ScenarioText& scenario) {
    constexpr std::size_t most_held = 512;
    std::vector<Point> points;
    Study study = read_study(scenario, {}, {}, [&](const Point& point) {
        if (points.size() < most_held && !point.scenario.training) points.push_back(point);
    });
    if (points.size() == study.points.size()) study.points = Points(std::move(points));
    return study;
}

const Study& study_of(const ScenarioText& scenario, LastRead& last) {
    if (!last.study || last.text != scenario.text) {
        last.study.reset();  // before the next one takes its memory
        last.study = read_and_hold(scenario);
        last.text = scenario.text;
    }
    return *last.study;
}

Json answer_to(const Json& request, std::unique_ptr<LastRead>& last,
               const OnProgress& on_progress) {
    const auto what = request.at("do").get<std::string>();
    if (what == "names") return Json::parse(list_json(""));
    const ScenarioText scenario = scenario_of(request, last);
    if (what == "solve") return solve(request, scenario);
    if (what == "diagnose") return diagnose(request, scenario);
    const Study& study = study_of(scenario, *last);
    if (what == "study") return describe(request, study);
    if (what == "run") return run(request, study, on_progress);
    if (what == "explain") return explain(request, study);
    if (what == "trace") return trace(request, study);
    throw ConfigError("request", "do", "names no question");
}

Json refusal(const std::string& file, const std::string& path, const std::string& problem,
             const std::string& text) {
    return {{"file", file}, {"path", path}, {"problem", problem}, {"text", text}};
}

Json refusal(const ConfigError& error) {
    return refusal(error.file(), error.path(), error.problem(), error.what());
}

// Returns the answer with a first fault and with all faults.
std::string refused(Json first, const std::vector<ConfigError>& others) {
    Json all = Json::array({first});
    for (const ConfigError& other : others) all.push_back(refusal(other));
    first["all"] = std::move(all);
    // Texts may not be UTF-8.
    return Json{{"error", std::move(first)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Session::Session() = default;
Session::~Session() = default;

std::string Session::answer(std::string_view request, const OnProgress& on_progress) {
    try {
        return answer_to(Json::parse(request), last_, on_progress)
            .dump(-1, ' ', false, Json::error_handler_t::replace);
    } catch (const ConfigError& error) {
        return refused(refusal(error), error.others());
    } catch (const std::exception& error) {
        return refused(refusal("", "", error.what(), error.what()), {});
    }
}

}  // namespace paceline
