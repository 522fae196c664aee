#include "python/bindings/worker_core.hpp"

#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include "python/bindings/arrays.hpp"

namespace paceline::python {

// --- Run ---

Run::Run(Worker& worker, WorkerCorePtr core, SharedValue<ExchangeOptions> exchange)
    : worker_(worker), core_(std::move(core)), options_(std::move(exchange)) {}

Run::~Run() {
    if (!worker_.timing_only()) core_->keep_model(worker_.model());
}

VectorExchange& Run::exchange(std::size_t i) {
    std::unique_ptr<VectorExchange>& exchange = exchanges_[i];
    if (exchange == nullptr) {
        const std::string name = i == 0 ? std::string() : fmt::format("exchange {}", i);
        exchange = std::make_unique<VectorExchange>(worker_, options_, Preparation{}, name);
    }
    return *exchange;
}

const Run::BackwardPass& Run::begin_backward(Vector x) {
    std::vector<Piece> pieces = pieces_of(worker_, options_->schedule, options_->codec.leave_out);
    backward_ = std::make_shared<BackwardPass>(
        BackwardPass{worker_.backward(std::move(x)), std::move(pieces), backwards_++});
    return *backward_;
}

Run::Started::iterator Run::start(Task<Result> task) {
    return started_.insert(started_.end(), worker_.start(std::move(task)));
}

Task<Result> Run::await_started(Started::iterator started) {
    Pending<Result> pending = std::move(*started);
    started_.erase(started);
    Result result = co_await std::move(pending);
    co_return result;
}

// --- vectors ---

Run& WorkerCore::run() const {
    if (run_ == nullptr)
        throw std::runtime_error(
            "this worker is used outside of its method: it can be asked only while the method "
            "runs");
    return *run_;
}

py::object WorkerCore::without_values(std::int64_t entries) {
    py::object& known = without_values_[entries];
    if (!known) known = py::module_::import("paceline._values").attr("NoValues")(entries);
    return known;
}

// The worker's own vector gets values of its own first: an array of an earlier life may look at
// those that it has.
py::object WorkerCore::model() {
    Vector& model = worker().model();
    if (!model.has_values()) return without_values(model.entries());
    if (!model_) {
        const Eigen::VectorXd& values = model.writable();
        values_ = values.data();
        model_ = array_over(values, owner_of(viewed_), true);
    }
    return model_;
}

void WorkerCore::separate_model() {
    if (model_) (void)worker().model().writable_in_place();
}

void WorkerCore::keep_model(const Vector& model) {
    if (values_ != nullptr) viewed_->after_the_run = model;
}

LayoutPtr WorkerCore::layout_of(std::int64_t entries) {
    const LayoutPtr& whole = worker().model().layout();
    if (entries == whole->entries()) return whole;
    LayoutPtr& known = layouts_[entries];
    if (known == nullptr)
        known = std::make_shared<const Layout>(std::vector<Tensor>{{"vector", {entries}}});
    return known;
}

Vector WorkerCore::vector_from(const py::handle& given) {
    if (worker().timing_only()) {
        if (!py::hasattr(given, "size"))
            throw std::invalid_argument(
                "a vector of a timing-only run is what the worker has returned, or an array");
        return Vector(layout_of(given.attr("size").cast<std::int64_t>()));
    }
    const Numbers numbers = numbers_of(given);
    LayoutPtr layout = layout_of(numbers.size());
    return {std::move(layout), eigen_of(numbers)};
}

Vector WorkerCore::model_sized_from(const py::handle& given) {
    Vector made = vector_from(given);
    const std::int64_t entries = worker().model().entries();
    if (made.entries() != entries)
        throw std::invalid_argument(fmt::format("has {} numbers, and the model has {} parameters",
                                                made.entries(), entries));
    return made;
}

py::object WorkerCore::array_of(ForPython made) {
    if (!made.vector.has_values()) return without_values(made.vector.entries());
    if (made.writable) (void)made.vector.writable();
    auto owned = std::make_unique<Vector>(std::move(made.vector));
    const Eigen::VectorXd& values = owned->values();
    return array_over(values, owner_of(std::move(owned)), made.writable);
}

py::object WorkerCore::result_for_python(Result result) {
    if (auto* const vector = std::get_if<ForPython>(&result)) return array_of(std::move(*vector));
    if (const auto* const held = std::get_if<HeldObject>(&result)) return object_of(*held);
    auto* const letter = std::get_if<Letter>(&result);
    if (letter == nullptr) return py::none();
    const auto content = [&](std::optional<Vector>& vector) -> py::object {
        if (!vector) return py::none();
        return array_of({std::move(*vector), false});
    };
    return py::make_tuple(content(letter->vector), letter->number, letter->from, letter->life,
                          content(letter->second));
}

}  // namespace paceline::python
