// The engine's side of a Worker of Python (python/paceline/_worker.py): what it can be asked, and
// the operations that it makes.
//
// A core is of one life of a worker. It can be used while code of its method runs, and only then:
// before and after, it raises. What belongs to the engine (exchanges, work that was started) is in
// the Run, which the coroutines of the method own; Python may keep a core for as long as it likes.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/exchange/piece.hpp"
#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"
#include "python/bindings/operation.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/shared_value.hpp"

namespace paceline::python {

class WorkerCore;
using WorkerCorePtr = std::shared_ptr<WorkerCore>;

/// The values of a model that arrays of Python look at. The worker has them during the run, and
/// this afterwards.
struct ViewedModel {
    std::optional<Vector> after_the_run{};
};

/// What a method has of the engine during one life of a worker.
class Run : public std::enable_shared_from_this<Run> {
  public:
    /// Requires that the worker outlives the run.
    Run(Worker& worker, WorkerCorePtr core, SharedValue<ExchangeOptions> exchange);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run();

    [[nodiscard]] Worker& worker() const { return worker_; }
    [[nodiscard]] WorkerCore& core() const { return *core_; }
    [[nodiscard]] const ExchangeOptions& exchange_options() const { return *options_; }

    /// Returns exchange i, which is made when it is first asked for.
    VectorExchange& exchange(std::size_t i);
    /// The computation of a gradient that becomes complete piece by piece.
    struct BackwardPass {
        Backward backward;
        std::vector<Piece> pieces;
        std::size_t number;  // 0, 1, ...
        bool is_over = false;
    };
    using BackwardPassPtr = std::shared_ptr<BackwardPass>;

    /// Begins the gradient at x. Requires that the one before is over.
    const BackwardPass& begin_backward(Vector x);
    /// Returns the newest one; null if there is none.
    [[nodiscard]] const BackwardPassPtr& backward() const { return backward_; }
    /// Returns channel i.
    Channel<HeldObject>& channel(std::size_t i) { return channels_[i]; }

    using Started = std::list<Pending<Result>>;
    /// Starts work beside the method (Worker::start). It ends with the run at the latest.
    Started::iterator start(Task<Result> task);
    Task<Result> await_started(Started::iterator started);

  private:
    Worker& worker_;
    WorkerCorePtr core_;
    SharedValue<ExchangeOptions> options_;
    std::map<std::size_t, std::unique_ptr<VectorExchange>> exchanges_{};
    std::map<std::size_t, Channel<HeldObject>> channels_{};
    std::size_t backwards_ = 0;   // that have begun
    BackwardPassPtr backward_{};  // the newest
    Started started_{};           // coroutine frames, which refer to the members above
};
using RunPtr = std::shared_ptr<Run>;

class WorkerCore {
  public:
    /// `servers` are those of the method, behind the workers.
    WorkerCore(bool has_mixing, int servers) : has_mixing_(has_mixing), servers_(servers) {}
    WorkerCore(const WorkerCore&) = delete;
    WorkerCore& operator=(const WorkerCore&) = delete;
    ~WorkerCore() = default;

    /// Returns the run. Throws std::runtime_error if code of the method does not run now.
    [[nodiscard]] Run& run() const;
    [[nodiscard]] Worker& worker() const { return run().worker(); }
    [[nodiscard]] bool is_in_use() const { return run_ != nullptr; }
    [[nodiscard]] bool has_mixing() const { return has_mixing_; }
    [[nodiscard]] int servers() const { return servers_; }
    /// Lets Python use the core, or no more (null). Returns what was before.
    Run* enter(Run* run) { return std::exchange(run_, run); }

    // --- vectors; with the GIL ---

    /// Returns the worker's model as an array that can be written, always the same one.
    py::object model();
    /// Makes sure that nobody else has the values that the array of the model shows.
    void separate_model();
    /// Returns the vector that an array of Python holds, as a copy, or one without values in a
    /// timing-only run. One of the model's size has the model's layout. Throws
    /// std::invalid_argument.
    Vector vector_from(const py::handle& given);
    /// The same of the model's size.
    Vector model_sized_from(const py::handle& given);
    /// Returns whether an object is the array of the model.
    [[nodiscard]] bool is_model(const py::handle& given) const {
        return model_ && given.is(model_);
    }
    /// Returns the array over a vector, or what stands for one in a timing-only run.
    py::object array_of(ForPython made);
    py::object result_for_python(Result result);
    /// Keeps the values of the model for arrays that look at them. Does not need the GIL.
    void keep_model(const Vector& model);

    /// Notes an operation that was made and never awaited, and where in the code it was lost.
    struct Forgotten {
        std::string name;
        std::string file;
        int line;
        std::int64_t step;
    };
    void forget(Forgotten operation) { forgotten_.push_back(std::move(operation)); }
    std::vector<Forgotten> take_forgotten() { return std::exchange(forgotten_, {}); }

    /// Returns what stands for so many numbers in a timing-only run.
    py::object without_values(std::int64_t entries);

    std::size_t exchanges = 0;  // how many Python has asked for
    std::size_t channels = 0;

  private:
    [[nodiscard]] LayoutPtr layout_of(std::int64_t entries);

    bool has_mixing_;
    int servers_;
    Run* run_ = nullptr;              // while code of the method runs
    py::object model_{};              // null: nobody has asked for it
    const double* values_ = nullptr;  // those of `model_`
    std::shared_ptr<ViewedModel> viewed_ = std::make_shared<ViewedModel>();
    std::map<std::int64_t, LayoutPtr> layouts_{};
    std::map<std::int64_t, py::object> without_values_{};
    std::vector<Forgotten> forgotten_{};
};

/// Drives a coroutine of Python, and returns what it returns. Throws MethodFailed (method.hpp).
Task<Result> drive(Run& run, HeldObject coroutine);

/// Defines WorkerCore and what it returns.
void define_worker_core(py::module_& module);

}  // namespace paceline::python
