#include "python/bindings/method.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pybind11_json/pybind11_json.hpp>

#include "algorithms/runtime/worker.hpp"
#include "python/bindings/described.hpp"
#include "python/bindings/worker_core.hpp"

namespace paceline::python {

namespace {

py::object of_package(const char* name) {
    return py::module_::import("paceline._own").attr(name);
}

// --- failures ---

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
        throw failure(
            run.worker(),
            fmt::format("awaits {}, which is not an operation of a worker; await what self returns",
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

// A method as Python describes it (paceline._method.Method), with options of a scenario.
struct ReadMethod {
    HeldObject described;
    nlohmann::json options;
    bool has_mixing;
    SharedValue<ExchangeOptions> exchange;
    int servers;
    bool is_of_server;  // what its servers run
};
using ReadMethodPtr = std::shared_ptr<const ReadMethod>;

struct Begun {
    RunPtr run;
    HeldObject coroutine;
};

WorkerCorePtr make_core(const ReadMethod& method) {
    return {new WorkerCore(method.has_mixing, method.servers), [](WorkerCore* core) {
                if (Py_IsInitialized() == 0) return;
                const Gil gil;
                delete core;
            }};
}

Begun begin_method(Worker& self, const ReadMethod& method) {
    const Gil gil;
    WorkerCorePtr core = make_core(method);
    const auto run = std::make_shared<Run>(self, core, method.exchange);
    const Inside inside(*run);
    try {
        const py::object described = object_of(method.described);
        const py::object begin =
            method.is_of_server ? described.attr("begin_server") : described.attr("begin");
        return {run, hold(begin(std::move(core), pyjson::from_json(method.options)))};
    } catch (py::error_already_set& raised) {
        raised.restore();
        throw raised_on(self);
    }
}

Task<> run_method(Worker& self, ReadMethodPtr method) {
    const Begun begun = begin_method(self, *method);
    const Result nothing = co_await drive(*begun.run, begun.coroutine);
}

WhenNodesDie reaction_of(const std::string& name) {
    if (name == "reruns-models") return WhenNodesDie::reruns_models;
    if (name == "reruns-replicas") return WhenNodesDie::reruns_replicas;
    if (name == "renormalizes") return WhenNodesDie::renormalizes;
    if (name == "skips") return WhenNodesDie::skips;
    if (name == "server-goes-on") return WhenNodesDie::server_goes_on;
    return WhenNodesDie::cannot_go_on;
}

}  // namespace

OwnMethodPtr own_method(const py::object& described) {
    const std::vector<PartOption> options = options_of(described);
    OwnMethod made;
    made.options = names_of_options(options);
    made.traits.when_nodes_die = reaction_of(described.attr("when_nodes_die").cast<std::string>());
    made.traits.runs_freely = described.attr("runs_freely").cast<bool>();
    made.traits.decays_by_itself = described.attr("decays_by_itself").cast<bool>();
    made.servers = described.attr("servers").cast<int>();
    const auto make = [held = hold(described), options, servers = made.servers](bool is_of_server) {
        return [=](const Place& algorithm, const ExchangeOptions& exchange) {
            const auto read = std::make_shared<const ReadMethod>(
                ReadMethod{held, checked_options(algorithm, options),
                           algorithm.json->contains("mixing"), exchange, servers, is_of_server});
            return [read](Worker& worker) { return run_method(worker, read); };
        };
    };
    made.make = make(false);
    if (made.servers > 0) made.make_server = make(true);
    return std::make_shared<const OwnMethod>(std::move(made));
}

Task<Result> drive(Run& run, HeldObject coroutine) {
    Result sent;
    for (;;) {
        const Resumed next = resume(run, coroutine, std::move(sent));
        if (next.operation == nullptr) co_return Result(next.returned);
        sent = co_await begin(next.operation, run);
    }
}

}  // namespace paceline::python
