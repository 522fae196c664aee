// paceline._engine: what the Python package paceline is built on. python/paceline/_engine.pyi lists
// its types, and its docstrings what it does; users see the package alone.
//
// Every call that may take long is a job, begun here and waited for in Python (job.hpp). While a
// job is waited for, the GIL is released.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11_json/pybind11_json.hpp>

#include "app/commands/program.hpp"
#include "app/host/version.hpp"
#include "app/json/resources.hpp"
#include "app/questions/list_text.hpp"
#include "app/run/comparisons.hpp"
#include "app/run/results.hpp"
#include "app/run/table.hpp"
#include "python/bindings/asking.hpp"
#include "python/bindings/errors.hpp"
#include "python/bindings/method.hpp"
#include "python/bindings/running.hpp"
#include "python/bindings/scenario_text.hpp"
#include "python/bindings/worker_core.hpp"

namespace paceline::python {

namespace {

// Waits without the GIL. At the exit of the interpreter, Python ends a thread that asks for the GIL
// by unwinding it; a guard object would turn that into std::terminate, these macros do not.
bool wait_without_gil(Job& job, double seconds) {
    bool ended = false;
    Py_BEGIN_ALLOW_THREADS;
    ended = job.wait(seconds);
    Py_END_ALLOW_THREADS;
    return ended;
}

// --- studies ---

// pybind11 holds objects by pointers to what may change; nothing here changes them.
template <class T>
std::shared_ptr<T> held(std::shared_ptr<const T> object) {
    return std::const_pointer_cast<T>(std::move(object));
}

using AxisNames = std::vector<std::pair<std::string, std::vector<std::string>>>;

AxisNames axes_of(const ReadStudy& read) {
    AxisNames axes;
    for (const Axis& axis : read.study.axes) axes.emplace_back(axis.path, axis.names);
    return axes;
}

std::string resolved(const ReadStudy& read, std::size_t index) {
    if (index >= read.study.points.size()) throw py::index_error("the study has no such point");
    return read.study.points[index].resolved;
}

std::unique_ptr<ReadJob> read(std::string file, std::string text, Objects objects,
                              Settings settings, Picks picks, int jobs, py::object find) {
    return begin_reading({scenario_text(std::move(file), std::move(text), std::move(objects),
                                        methods_of_python(std::move(find))),
                          std::move(settings), std::move(picks), jobs});
}

std::unique_ptr<RunJob> run(std::shared_ptr<ReadStudy> study, std::size_t jobs, std::size_t threads,
                            std::string out, bool resume, bool force, bool models) {
    return std::make_unique<RunJob>(
        RunRequest{std::move(study), {jobs, threads}, std::move(out), resume, force, models});
}

// --- results ---

const PointResult& result_of(const RanStudy& ran, std::size_t index) {
    if (index >= ran.outcome.results.size()) throw py::index_error("the study has no such point");
    return ran.outcome.results[index];
}

RanPoints points_of(const RanStudy& ran) {
    return {ran.read->study, ran.outcome.results};
}

std::optional<std::string> timeline_of(const RanStudy& ran) {
    const RanPoints points = points_of(ran);
    return points.trains ? std::optional(timeline_csv(points)) : std::nullopt;
}

py::object values_of(const RanStudy& ran, std::size_t index) {
    const auto found = ran.models.find(index);
    if (found == ran.models.end()) return py::none();
    const Models& models = found->second;
    const std::vector<py::ssize_t> shape{models.workers, models.layout->entries()};
    return py::array_t<double>(shape, models.values.data());
}

std::vector<std::pair<std::string, std::vector<std::int64_t>>> tensors_of(const RanStudy& ran,
                                                                          std::size_t index) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> tensors;
    if (const auto found = ran.models.find(index); found != ran.models.end())
        for (const Tensor& tensor : found->second.layout->tensors())
            tensors.emplace_back(tensor.name, tensor.shape);
    return tensors;
}

// --- questions ---

std::unique_ptr<AnswerJob> check(std::string file, std::string text, Objects objects,
                                 Settings settings, Picks picks, py::object find) {
    return begin_checking({scenario_text(std::move(file), std::move(text), std::move(objects),
                                         methods_of_python(std::move(find))),
                           std::move(settings), std::move(picks)});
}

std::unique_ptr<AnswerJob> explain(std::shared_ptr<ReadStudy> study,
                                   std::optional<std::size_t> point, int threads) {
    return begin_explaining(std::move(study), point, threads);
}

SolveQuestion question_from(const py::dict& asked) {
    SolveQuestion question;
    question.file = asked["file"].cast<std::string>();
    question.settings = asked["settings"].cast<Settings>();
    question.picks = asked["picks"].cast<Picks>();
    question.vary = asked["vary"].cast<std::string>();
    question.column = asked["find"].cast<std::string>();
    question.equals = asked["equals"].cast<std::optional<double>>();
    question.against = asked["against"].cast<Settings>();
    question.times = asked["times"].cast<double>();
    question.grid = asked["grid"].cast<std::optional<std::size_t>>();
    if (const auto scale = asked["scale"].cast<std::optional<std::string>>())
        question.scale = *scale == "log" ? Scale::logarithmic : Scale::linear;
    question.tolerance = asked["tolerance"].cast<double>();
    return question;
}

std::unique_ptr<AnswerJob> solve_question(const py::dict& asked, std::string text, Objects objects,
                                          std::size_t jobs, std::size_t threads,
                                          const std::string& cache, py::object find) {
    SolveQuestion question = question_from(asked);
    ScenarioText scenario = scenario_text(question.file, std::move(text), std::move(objects),
                                          methods_of_python(std::move(find)));
    return begin_solving(std::move(scenario), std::move(question), {jobs, threads}, cache);
}

CalibrationQuestion calibration_from(const py::dict& asked) {
    CalibrationQuestion question;
    question.settings = asked["settings"].cast<Settings>();
    question.picks = asked["picks"].cast<Picks>();
    question.free = asked["free"].cast<std::vector<std::string>>();
    question.level = asked["level"].cast<double>();
    question.noise = asked["noise"].cast<double>();
    using Rows = std::vector<std::pair<std::string, std::optional<std::string>>>;
    for (auto& [name, text] : asked["rows"].cast<Rows>())
        question.measured.push_back(text ? MeasuredFile{name, *text} : measured_file(name));
    return question;
}

std::unique_ptr<AnswerJob> calibrate_question(const py::dict& asked, std::string text,
                                              Objects objects, std::size_t jobs, std::string date,
                                              py::object find) {
    CalibrationQuestion question = calibration_from(asked);
    question.scenario = scenario_text(asked["file"].cast<std::string>(), std::move(text),
                                      std::move(objects), methods_of_python(std::move(find)));
    return begin_calibrating(std::move(question), {jobs, 1}, std::move(date));
}

DiagnoseQuestion diagnosis_from(const py::dict& asked) {
    DiagnoseQuestion question;
    question.settings = asked["settings"].cast<Settings>();
    question.picks = asked["picks"].cast<Picks>();
    question.measured = asked["measured"].cast<std::vector<std::string>>();
    question.noise = asked["noise"].cast<double>();
    question.advise = asked["advise"].cast<bool>();
    return question;
}

std::unique_ptr<AnswerJob> diagnose_question(const py::dict& asked, std::string text,
                                             Objects objects, std::size_t jobs, py::object find) {
    DiagnoseQuestion question = diagnosis_from(asked);
    question.scenario = scenario_text(asked["file"].cast<std::string>(), std::move(text),
                                      std::move(objects), methods_of_python(std::move(find)));
    return begin_diagnosing(std::move(question), {jobs, 1});
}

// --- the command line ---

int main_of_module(const std::vector<std::string>& arguments, py::object find) {
    const FindMethod methods = methods_of_python(std::move(find));
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    pointers.push_back(nullptr);
    const py::gil_scoped_release release;
    return run_program(static_cast<int>(arguments.size()), pointers.data(), methods);
}

void define_jobs(py::module_& module) {
    py::class_<Job>(module, "Job", "Work on a thread of its own.")
        .def("wait", &wait_without_gil, py::arg("seconds"),
             "Waits until the work has ended, at most so long. Returns whether it has.")
        .def("stop", &Job::stop, "Asks the work to end soon.");
    py::class_<ReadJob, Job>(module, "ReadJob", "Reads a study.")
        .def(
            "take", [](ReadJob& job) { return held(job.take()); },
            "Returns the study, once. Raises what was wrong with it.");
    py::class_<RunJob, Job>(module, "RunJob", "Runs a study.")
        .def(
            "take", [](RunJob& job) { return held(job.take()); },
            "Returns the results, once. Raises what went wrong.")
        .def(
            "standing",
            [](const RunJob& job) {
                const Standing now = job.standing();
                return py::make_tuple(now.done, now.points, now.line);
            },
            "Returns the points that are done, all points, and a line of words.");
    py::class_<AnswerJob, Job>(module, "AnswerJob", "Answers a question.")
        .def(
            "take",
            [](AnswerJob& job) {
                Answer answer = job.take();
                return py::make_tuple(answer.text, answer.json, answer.warnings);
            },
            "Returns the text, the JSON (or an empty text) and the warnings, once.");
}

void define_studies(py::module_& module) {
    py::class_<ReadStudy, std::shared_ptr<ReadStudy>>(module, "Study", "A study that was read.")
        .def_property_readonly("file", [](const ReadStudy& r) { return r.study.file; })
        .def_property_readonly("title", [](const ReadStudy& r) { return r.study.title; })
        .def_property_readonly("axes", &axes_of, "Each axis' path, and the names of its values.")
        .def_property_readonly("points", [](const ReadStudy& r) { return r.study.points.size(); })
        .def_property_readonly("warnings", [](const ReadStudy& r) { return r.warnings; })
        .def("resolved", &resolved, py::arg("index"), "Returns a point's scenario as JSON.");
    py::class_<RanStudy, std::shared_ptr<RanStudy>>(module, "Results", "What a study has given.")
        .def_property_readonly("complete", [](const RanStudy& r) { return r.outcome.complete; })
        .def_property_readonly("kept", [](const RanStudy& r) { return r.outcome.kept; })
        .def_property_readonly("jobs", [](const RanStudy& r) { return r.info.jobs; })
        .def_property_readonly("wall_clock_s",
                               [](const RanStudy& r) { return r.info.wall_clock_s; })
        .def_property_readonly("warnings", [](const RanStudy& r) { return r.warnings; })
        .def("results_csv", [](const RanStudy& r) { return results_csv(points_of(r)); })
        .def("timeline_csv", &timeline_of)
        .def("summary_csv", [](const RanStudy& r) { return summary_csv(points_of(r)); })
        .def("comparisons_csv", [](const RanStudy& r) { return comparisons_csv(points_of(r)); })
        .def("table", [](const RanStudy& r) { return speedup_table(points_of(r)); })
        .def("manifest",
             [](const RanStudy& r) {
                 return manifest_json(r.read->study, r.outcome.results, r.info);
             })
        .def(
            "point",
            [](const RanStudy& r, std::size_t index) {
                const PointResult& result = result_of(r, index);
                return py::make_tuple(result.metrics.outcome, result.metrics.outcome_details,
                                      result.wall_clock_s, result.metrics.events);
            },
            py::arg("index"), "Returns outcome, its details, seconds it took, and events.")
        .def("models", &values_of, py::arg("index"),
             "Returns the models at the end, float64 of shape (workers, parameters), or None.")
        .def("tensors", &tensors_of, py::arg("index"),
             "Returns the names and shapes of a model's tensors, in order.");
}

void define_calls(py::module_& module) {
    using namespace py::literals;
    module.def("read", &read, "file"_a, "text"_a, "objects"_a, "settings"_a, "picks"_a, "jobs"_a,
               "find"_a, "Begins to read a scenario: every point, and the files that it names.");
    module.def("run", &run, "study"_a, "jobs"_a, "threads"_a, "out"_a, "resume"_a, "force"_a,
               "models"_a, "Begins to run a study.");
    module.def("check", &check, "file"_a, "text"_a, "objects"_a, "settings"_a, "picks"_a, "find"_a,
               "Begins to check a scenario.");
    module.def("explain", &explain, "study"_a, "point"_a, "threads"_a,
               "Begins to explain a point.");
    module.def("solve", &solve_question, "question"_a, "text"_a, "objects"_a, "jobs"_a, "threads"_a,
               "cache"_a, "find"_a, "Begins to solve.");
    module.def("calibrate", &calibrate_question, "question"_a, "text"_a, "objects"_a, "jobs"_a,
               "date"_a, "find"_a, "Begins to calibrate.");
    module.def("diagnose", &diagnose_question, "question"_a, "text"_a, "objects"_a, "jobs"_a,
               "find"_a, "Begins to diagnose.");
    module.def("text_of_file", &text_of_file, "file"_a, "Returns the text of a scenario file.");
    module.def(
        "lists", [] { return pyjson::from_json(tables_of_names()); },
        "Returns the tables of names.");
    module.def(
        "list_names",
        [] {
            const auto names = list_names();
            return std::vector<std::string>(names.begin(), names.end());
        },
        "Returns the names of the lists that have a text.");
    module.def("list_text", &list_text, "name"_a, "Returns the text of a list, or of all.");
    module.def(
        "schema", [] { return std::string(resource("scenarios/scenario.schema.json")); },
        "Returns the schema of scenarios as JSON.");
    module.def(
        "columns",
        [] {
            const auto names = column_names();
            return std::vector<std::string>(names.begin(), names.end());
        },
        "Returns the columns of numbers of results.csv, without point and nodes.");
    module.def("main", &main_of_module, "arguments"_a, "find"_a, "Does what a command line says.");
}

}  // namespace

}  // namespace paceline::python

PYBIND11_MODULE(_engine, module) {
    using namespace paceline::python;
    module.doc() = "The engine of paceline; use the package paceline.";
    module.attr("__version__") = paceline::version;
    translate_errors();
    define_jobs(module);
    define_studies(module);
    define_worker_core(module);
    define_calls(module);
}
