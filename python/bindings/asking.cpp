#include "python/bindings/asking.hpp"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <utility>

#include "app/host/files.hpp"
#include "app/json/config_error.hpp"
#include "app/questions/calibrate/calibration_text.hpp"
#include "app/questions/calibrate/testbed_json.hpp"
#include "app/questions/check_text.hpp"
#include "app/questions/diagnose/diagnose.hpp"
#include "app/questions/diagnose/diagnosis_text.hpp"
#include "app/questions/explain.hpp"
#include "app/questions/solve_points.hpp"
#include "app/questions/solve_text.hpp"
#include "app/questions/warnings/warnings.hpp"
#include "app/run/memory_check.hpp"
#include "app/study/on_threads.hpp"
#include "app/study/point_key.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline::python {

namespace {

Answer checked(const ReadRequest& request, const std::stop_token& stop) {
    StudyCheck check;
    const Study study =
        read_study(request.scenario, request.settings, request.picks, [&](const Point& point) {
            if (stop.stop_requested()) throw Stopped{};
            check.see(point);
        });
    check.memory().check(study.file, study.axes, study.sources.memory());
    CheckReport report = check.report(study);
    return {std::move(report.text), {}, std::move(report.warnings)};
}

Answer explained(const Study& study, std::optional<std::size_t> wanted, int threads,
                 const std::stop_token& stop) {
    const std::size_t number = point_to_explain(study, wanted);
    check_memory({study.file, study.title, study.axes, study.points.only({number}), study.sources},
                 1);
    Point point = study.points[number];
    point.scenario = as_explained(std::move(point.scenario));
    Warnings warnings;
    warnings.see(point);
    try {
        ExplainOptions options;
        options.for_each = [threads](std::size_t count,
                                     const std::function<void(std::size_t)>& body) {
            on_threads(threads, count, body);
        };
        Progress progress;
        const std::stop_callback stopping(stop, [&progress] { progress.stop = true; });
        options.progress = &progress;
        const Explanation explanation = explain_point(study, number, options);
        return {explanation_text(explanation), explanation_json(explanation),
                warnings.lines(study.axes)};
    } catch (const ExplanationStopped&) {
        throw Stopped{};
    }
}

Answer answer_to(const SolveQuestion& question, const ScenarioText& scenario,
                 const StudyOptions& options) {
    std::vector<std::string> warnings = solve_warnings(question, scenario);
    try {
        const Solution solution = solve(question, scenario, concurrently(options));
        return {solution_text(question, solution), solution_json(question, solution),
                std::move(warnings)};
    } catch (const SearchStopped&) {
        throw Stopped{};
    }
}

Answer calibrated(const CalibrationQuestion& question, const StudyOptions& options,
                  const std::string& date) {
    try {
        Calibration found = calibrate(question, concurrently(options));
        return {calibration_text(found), testbed_json(found, program_name(), date),
                std::move(found.notes)};
    } catch (const SearchStopped&) {
        throw Stopped{};
    }
}

Answer diagnosed(const DiagnoseQuestion& question, const StudyOptions& options) {
    try {
        const Diagnosis found = diagnose(question, concurrently(options));
        return {diagnosis_text(found), diagnosis_json(found), {}};
    } catch (const SearchStopped&) {
        throw Stopped{};
    }
}

}  // namespace

std::unique_ptr<AnswerJob> begin_checking(ReadRequest request) {
    return std::make_unique<AnswerJob>([request = std::move(request)](const std::stop_token& stop) {
        return checked(request, stop);
    });
}

std::unique_ptr<AnswerJob> begin_explaining(ReadStudyPtr read, std::optional<std::size_t> point,
                                            int threads) {
    return std::make_unique<AnswerJob>(
        [read = std::move(read), point, threads](const std::stop_token& stop) {
            return explained(read->study, point, threads, stop);
        });
}

std::unique_ptr<AnswerJob> begin_solving(ScenarioText scenario, SolveQuestion question,
                                         PoolSize pool, const std::string& keep_in) {
    StudyOptions options;
    options.pool = pool;
    if (!keep_in.empty()) options.keep_in = keep_in;
    return std::make_unique<AnswerJob>(
        [scenario = std::move(scenario), question = std::move(question),
         options = std::move(options)](const std::stop_token& stop) mutable {
            options.stop = stop;
            return answer_to(question, scenario, options);
        });
}

std::unique_ptr<AnswerJob> begin_calibrating(CalibrationQuestion question, PoolSize pool,
                                             std::string date) {
    StudyOptions options;
    options.pool = pool;
    return std::make_unique<AnswerJob>(
        [question = std::move(question), options = std::move(options),
         date = std::move(date)](const std::stop_token& stop) mutable {
            options.stop = stop;
            return calibrated(question, options, date);
        });
}

std::unique_ptr<AnswerJob> begin_diagnosing(DiagnoseQuestion question, PoolSize pool) {
    StudyOptions options;
    options.pool = pool;
    return std::make_unique<AnswerJob>(
        [question = std::move(question),
         options = std::move(options)](const std::stop_token& stop) mutable {
            options.stop = stop;
            return diagnosed(question, options);
        });
}

MeasuredFile measured_file(const std::string& file) {
    try {
        const std::vector<unsigned char> bytes = read_bytes(file);
        return {file, {bytes.begin(), bytes.end()}};
    } catch (const DataError& error) {
        throw ConfigError("rows", "", error.what());
    }
}

}  // namespace paceline::python
