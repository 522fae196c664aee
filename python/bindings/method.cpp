#include "python/bindings/method.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>
#include <pybind11_json/pybind11_json.hpp>

#include "algorithms/runtime/worker.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/own_method.hpp"
#include "python/bindings/worker_core.hpp"

namespace paceline::python {

namespace {

py::object of_package(const char* name) {
    return py::module_::import("paceline._method").attr(name);
}

// --- failures ---

// Takes the exception that has been raised, with its traceback.
py::object taken_exception() {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != nullptr) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return py::reinterpret_steal<py::object>(value);
}

double now_s(const Worker& worker) {
    return to_seconds(worker.simulation().now() - Time{});
}

// Returns the failure that Python has raised on a worker. Requires the GIL and a raised exception.
MethodFailed raised_on(const Worker& worker) {
    const py::object raised = taken_exception();
    return {hold(of_package("failure")(raised, worker.rank(), worker.step(), now_s(worker)))};
}

// Returns the failure of a method that has done wrong and raised nothing.
MethodFailed failure(const Worker& worker, const std::string& what, std::int64_t step,
                     const std::string& file = {}, int line = 0) {
    return {hold(of_package("MethodError")(what, worker.rank(), step, now_s(worker), file, line))};
}

void refuse_forgotten(Run& run) {
    for (const WorkerCore::Forgotten& one : run.core().take_forgotten())
        throw failure(run.worker(),
                      fmt::format("self.{0} was not awaited, so it did nothing: write await "
                                  "self.{0}(...)",
                                  one.name),
                      one.step, one.file, one.line);
}

// --- coroutines ---

// Lets Python use a core for as long as this is alive.
class Inside {
  public:
    explicit Inside(Run& run) : core_(run.core()), before_(core_.enter(&run)) {}
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { core_.enter(before_); }

  private:
    WorkerCore& core_;
    Run* before_;
};

// What a coroutine of Python has done when it was resumed.
struct Resumed {
    OperationPtr operation;  // it awaits this; null: it has returned
    HeldObject returned;
};

OperationPtr awaited_of(Run& run, const py::object& yielded) {
    try {
        return yielded.cast<OperationPtr>();
    } catch (const py::cast_error&) {
        throw failure(run.worker(),
                      fmt::format("awaits {}, which is nothing that a worker does; "
                                  "await what self returns",
                                  py::repr(yielded).cast<std::string>()),
                      run.worker().step());
    }
}

Resumed resume(Run& run, const HeldObject& coroutine, Result sent) {
    const Gil gil;
    const Inside inside(run);
    run.core().separate_model();
    const py::object value = run.core().result_for_python(std::move(sent));
    PyObject* out = nullptr;
    const PySendResult state = PyIter_Send(coroutine.get(), value.ptr(), &out);
    if (state == PYGEN_ERROR) throw raised_on(run.worker());
    auto made = py::reinterpret_steal<py::object>(out);
    refuse_forgotten(run);
    if (state == PYGEN_RETURN) return {nullptr, hold(std::move(made))};
    return {awaited_of(run, made), nullptr};
}

// --- methods ---

enum class OptionType : std::uint8_t { any, boolean, integer, number, text };

struct MethodOption {
    std::string name;
    OptionType type;
    bool required;
};

// A method as Python describes it (paceline._method.Method), with options of a scenario.
struct ReadMethod {
    HeldObject described;
    nlohmann::json options;
    bool has_mixing;
    SharedValue<ExchangeOptions> exchange;
};
using ReadMethodPtr = std::shared_ptr<const ReadMethod>;

struct Begun {
    RunPtr run;
    HeldObject coroutine;
};

WorkerCorePtr make_core(bool has_mixing) {
    return {new WorkerCore(has_mixing), [](WorkerCore* core) {
                if (Py_IsInitialized() == 0) return;
                const Gil gil;
                delete core;
            }};
}

Begun begin_method(Worker& self, const ReadMethod& method) {
    const Gil gil;
    WorkerCorePtr core = make_core(method.has_mixing);
    const auto run = std::make_shared<Run>(self, core, method.exchange);
    const Inside inside(*run);
    try {
        return {run, hold(object_of(method.described)
                              .attr("begin")(std::move(core), pyjson::from_json(method.options)))};
    } catch (py::error_already_set& raised) {
        raised.restore();
        throw raised_on(self);
    }
}

Task<> run_method(Worker& self, ReadMethodPtr method) {
    const Begun begun = begin_method(self, *method);
    const Result nothing = co_await drive(*begun.run, begun.coroutine);
}

// --- reading ---

OptionType type_of(const std::string& name) {
    static const std::map<std::string, OptionType> types{{"boolean", OptionType::boolean},
                                                         {"integer", OptionType::integer},
                                                         {"number", OptionType::number},
                                                         {"text", OptionType::text}};
    const auto found = types.find(name);
    return found == types.end() ? OptionType::any : found->second;
}

void check_option(const Place& place, OptionType type) {
    const Json& given = *place.json;
    switch (type) {
        case OptionType::boolean:
            (void)as_bool(place);
            return;
        case OptionType::integer:
            if (!whole_number(given))
                place.refuse(fmt::format("{} is no whole number", given.dump()));
            return;
        case OptionType::number:
            if (!given.is_number()) place.refuse(fmt::format("{} is no number", given.dump()));
            return;
        case OptionType::text:
            (void)as_string(place);
            return;
        case OptionType::any:
            return;
    }
}

nlohmann::json checked_options(const Place& algorithm, const std::vector<MethodOption>& options) {
    nlohmann::json given = nlohmann::json::object();
    for (const MethodOption& option : options) {
        const auto found = algorithm.json->find(option.name);
        if (found == algorithm.json->end()) {
            if (option.required)
                algorithm.refuse(
                    {.problem = fmt::format("\"{}\" is missing: the method has no default for it",
                                            option.name),
                     .missing = option.name});
            continue;
        }
        check_option(algorithm.child(option.name, *found), option.type);
        const auto whole = whole_number(*found);
        const bool is_whole = option.type == OptionType::integer && whole;
        given[option.name] = is_whole ? nlohmann::json(*whole) : nlohmann::json(*found);
    }
    return given;
}

WhenNodesDie reaction_of(const std::string& name) {
    if (name == "reruns-models") return WhenNodesDie::reruns_models;
    if (name == "renormalizes") return WhenNodesDie::renormalizes;
    if (name == "skips") return WhenNodesDie::skips;
    return WhenNodesDie::cannot_go_on;
}

OwnMethodPtr own_method(const py::object& described) {
    std::vector<MethodOption> options;
    OwnMethod made;
    for (const py::handle& option : described.attr("options")) {
        const auto parts = option.cast<std::tuple<std::string, std::string, bool>>();
        options.push_back({std::get<0>(parts), type_of(std::get<1>(parts)), std::get<2>(parts)});
        made.options.push_back(std::get<0>(parts));
    }
    made.traits.when_nodes_die = reaction_of(described.attr("when_nodes_die").cast<std::string>());
    made.traits.runs_freely = described.attr("runs_freely").cast<bool>();
    made.traits.decays_by_itself = described.attr("decays_by_itself").cast<bool>();
    made.make = [held = hold(described), options](const Place& algorithm,
                                                  const ExchangeOptions& exchange) {
        const auto read = std::make_shared<const ReadMethod>(
            ReadMethod{held, checked_options(algorithm, options),
                       algorithm.json->contains("mixing"), exchange});
        return [read](Worker& worker) { return run_method(worker, read); };
    };
    return std::make_shared<const OwnMethod>(std::move(made));
}

// A method, or why the name is of none.
struct FoundMethod {
    OwnMethodPtr method;
    std::string problem{};
};

// Methods by name, of one reading of a scenario.
struct FoundMethods {
    std::mutex mutex{};
    std::map<std::string, FoundMethod> methods{};
};

FoundMethod ask_python(const HeldObject& find, const std::string& kind, const std::string& file) {
    const Gil gil;
    try {
        const py::object described = object_of(find)(kind, file);
        if (py::isinstance<py::str>(described)) return {nullptr, described.cast<std::string>()};
        return {described.is_none() ? nullptr : own_method(described)};
    } catch (const py::error_already_set& raised) {
        return {nullptr, raised.what()};
    }
}

FoundMethod found_method(FoundMethods& found, const HeldObject& find, const Place& kind) {
    const auto& name = kind.json->get_ref<const std::string&>();
    {
        const std::scoped_lock lock(found.mutex);
        const auto known = found.methods.find(name);
        if (known != found.methods.end()) return known->second;
    }
    FoundMethod method = ask_python(find, name, *kind.file);  // takes the GIL: without the lock
    const std::scoped_lock lock(found.mutex);
    return found.methods.emplace(name, std::move(method)).first->second;
}

}  // namespace

Task<Result> drive(Run& run, HeldObject coroutine) {
    Result sent;
    for (;;) {
        const Resumed next = resume(run, coroutine, std::move(sent));
        if (next.operation == nullptr) co_return Result(next.returned);
        sent = co_await begin(next.operation, run);
    }
}

FindMethod methods_of_python(py::object find) {
    return [found = std::make_shared<FoundMethods>(),
            find = hold(std::move(find))](const Place& kind) -> OwnMethodPtr {
        const FoundMethod of_kind = found_method(*found, find, kind);
        if (!of_kind.problem.empty()) kind.refuse(of_kind.problem);
        return of_kind.method;
    };
}

}  // namespace paceline::python
