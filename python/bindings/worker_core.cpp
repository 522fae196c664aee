#include "python/bindings/worker_core.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <pybind11/numpy.h>

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

namespace {

// Returns an array over values, which `owner` keeps.
py::array_t<double> array_over(const Eigen::VectorXd& values, const py::capsule& owner,
                               bool writable) {
    py::array_t<double> array(values.size(), values.data(), owner);
    if (!writable)
        py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
}

template <class T>
py::capsule owner_of(T value) {
    return {new T(std::move(value)), [](void* owned) { delete static_cast<T*>(owned); }};
}

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

Numbers numbers_of(const py::handle& given) {
    if (py::isinstance<py::array>(given) || PySequence_Check(given.ptr()) != 0)
        if (Numbers numbers = Numbers::ensure(given)) return numbers;
    throw std::invalid_argument(fmt::format("a vector is an array of numbers, not {}",
                                            py::repr(py::type::of(given)).cast<std::string>()));
}

}  // namespace

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
    Eigen::VectorXd values(numbers.size());
    if (numbers.size() > 0)
        std::memcpy(values.data(), numbers.data(),
                    static_cast<std::size_t>(numbers.size()) * sizeof(double));
    LayoutPtr layout = layout_of(numbers.size());
    return {std::move(layout), std::move(values)};
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
    const py::capsule owner(owned.get(), [](void* vector) { delete static_cast<Vector*>(vector); });
    (void)owned.release();
    return array_over(values, owner, made.writable);
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
