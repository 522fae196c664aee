#include "python/bindings/problem.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11_json/pybind11_json.hpp>

#include "models/data/batch_sampler.hpp"
#include "python/bindings/arrays.hpp"
#include "python/bindings/described.hpp"
#include "python/bindings/draws.hpp"

namespace paceline::python {

namespace {

// --- data ---

// Returns a matrix of the engine, a sample in each column, as an array with a sample in each row.
template <class Matrix>
py::object rows_over(const Matrix& matrix, const py::capsule& owner) {
    if (matrix.size() == 0) return py::none();
    const std::vector<py::ssize_t> shape{matrix.cols(), matrix.rows()};
    py::array_t<typename Matrix::Scalar> array(shape, matrix.data(), owner);
    make_read_only(array);
    return array;
}

template <class Values>
py::object values_over(const Values& values, const py::capsule& owner) {
    if (values.size() == 0) return py::none();
    py::array_t<typename Values::Scalar> array(values.size(), values.data(), owner);
    make_read_only(array);
    return array;
}

py::tuple samples_for_python(const Samples& samples, const py::capsule& owner) {
    return py::make_tuple(rows_over(samples.inputs, owner), values_over(samples.labels, owner),
                          values_over(samples.targets, owner), rows_over(samples.tokens, owner));
}

// Returns what paceline.Data is made of; None if the problem takes no data.
py::object data_for_python(const DataSetPtr& data) {
    if (data == nullptr) return py::none();
    const py::capsule owner = owner_of(data);
    return py::make_tuple(
        samples_for_python(data->train, owner), samples_for_python(data->test, owner),
        data->classes, py::make_tuple(data->image.channels, data->image.height, data->image.width));
}

// --- objects ---

// A problem as Python describes it, with options of a scenario.
struct ReadProblem {
    HeldObject described;
    nlohmann::json options;
};

py::object make_object(const ReadProblem& read, const DataSetPtr& data, int workers,
                       std::uint64_t seed) {
    return object_of(read.described)
        .attr("make")(pyjson::from_json(read.options), data_for_python(data), workers,
                      Draws(RandomStreams(seed).stream("start")));
}

LayoutPtr layout_of(const py::object& object) {
    std::vector<Tensor> tensors;
    for (const py::handle& tensor : object.attr("tensors")) {
        auto [name, shape] = tensor.cast<std::pair<std::string, std::vector<std::int64_t>>>();
        tensors.push_back({std::move(name), std::move(shape)});
    }
    return std::make_shared<const Layout>(std::move(tensors));
}

class PythonProblem final : public Problem {
  public:
    PythonProblem(HeldObject object, LayoutPtr layout, bool classifies, ProblemOptions options)
        : object_(std::move(object)),
          layout_(std::move(layout)),
          classifies_(classifies),
          options_(std::move(options)),
          gradients_(options_.shards.size()) {
        const RandomStreams streams(options_.seed);
        options_.batches.resize(options_.shards.size(), options_.batch);
        for (std::size_t i = 0; i < options_.shards.size(); ++i)
            samplers_.emplace_back(options_.shards[i], options_.batches[i], options_.sampling,
                                   streams.stream("batch", i));
    }

    const LayoutPtr& layout() const override { return layout_; }

    Eigen::VectorXd start() const override {
        return with_python([&] { return eigen_of(numbers_of(object().attr("start"))); });
    }

    Eigen::VectorXd gradient(const Vector& x, int rank) override {
        const auto worker = static_cast<std::size_t>(rank);
        const std::span<const int> batch = samplers_[worker].next();
        const std::int64_t step = gradients_[worker]++;
        Eigen::VectorXd g = with_python([&] {
            const py::array_t<std::int32_t> samples(static_cast<py::ssize_t>(batch.size()),
                                                    batch.data());
            const py::array at = array_over(x.values(), owner_of(x), false);
            return eigen_of(numbers_of(object().attr("gradient")(at, samples, rank, step)));
        });
        if (!options_.weights.empty()) g *= options_.weights[worker];
        if (options_.weight_decay != 0) g += options_.weight_decay * x.values();
        return g;
    }

    // One worker after another: the object may do more in a gradient than to average over a batch.
    Eigen::VectorXd mean_gradient(const Vector& x) override {
        Eigen::VectorXd sum = gradient(x, 0);
        for (std::size_t i = 1; i < samplers_.size(); ++i) sum += gradient(x, static_cast<int>(i));
        return sum * (1.0 / static_cast<double>(samplers_.size()));
    }

    bool classifies() const override { return classifies_; }

    Score train_score(const Eigen::VectorXd& x) override {
        return score(x, [&](const py::array& at) { return object().attr("train_score")(at); });
    }
    Score test_score(const Eigen::VectorXd& x) override {
        return score(x, [&](const py::array& at) { return object().attr("test_score")(at); });
    }

  private:
    [[nodiscard]] py::object object() const { return object_of(object_); }

    template <class Ask>
    static Score score(const Eigen::VectorXd& x, const Ask& ask) {
        return with_python([&] {
            auto kept = std::make_unique<Eigen::VectorXd>(x);
            const Eigen::VectorXd& values = *kept;
            const py::object given = ask(array_over(values, owner_of(std::move(kept)), false));
            const auto [loss, accuracy] = given.cast<std::pair<double, std::optional<double>>>();
            return Score{.loss = loss, .predictions = 1, .accuracy = accuracy};
        });
    }

    HeldObject object_;
    LayoutPtr layout_;
    bool classifies_;
    ProblemOptions options_;
    std::vector<BatchSampler> samplers_;   // one per worker
    std::vector<std::int64_t> gradients_;  // of each worker so far
};

// --- reading ---

// What is known of a problem without its object.
struct KnownProblem {
    OwnProblem::Made made;
    std::string fault;
};

struct KnownProblems {
    std::mutex mutex{};
    std::map<std::string, KnownProblem> known{};
};

using Around = OwnProblem::Surroundings;

KnownProblem ask_object(const std::shared_ptr<const ReadProblem>& read, const Around& around) {
    const DataSetPtr data = around.data != nullptr ? around.data->set() : nullptr;
    return with_python([&] {
        KnownProblem known;
        const py::object object = make_object(*read, data, around.workers, around.seed);
        if (py::isinstance<py::str>(object)) {
            known.fault = object.cast<std::string>();
            return known;
        }
        OwnProblem::Made& made = known.made;
        made.name = object_of(read->described).attr("name").cast<std::string>();
        made.layout = layout_of(object);
        made.classifies = object.attr("classifies").cast<bool>();
        made.samples = object.attr("samples").cast<std::int64_t>();
        made.shards = object.attr("shards").cast<std::optional<Shards>>();
        made.problem = [read, layout = made.layout, classifies = made.classifies,
                        takes_data = data != nullptr](std::shared_ptr<const Dataset> set,
                                                      ProblemOptions options) {
            const int workers = static_cast<int>(options.shards.size());
            HeldObject fresh = with_python([&] {
                return hold(make_object(*read, takes_data ? set : nullptr, workers, options.seed));
            });
            return std::make_unique<PythonProblem>(std::move(fresh), layout, classifies,
                                                   std::move(options));
        };
        return known;
    });
}

OwnProblem::Made made_of(KnownProblems& all, const Place& model,
                         const std::shared_ptr<const ReadProblem>& read, const Around& around) {
    const std::string name =
        fmt::format("{} {} {} {}", read->options.dump(), around.workers, around.seed,
                    around.data != nullptr ? around.data->identity : "");
    std::optional<KnownProblem> found;
    {
        const std::scoped_lock lock(all.mutex);
        const auto known = all.known.find(name);
        if (known != all.known.end()) found = known->second;
    }
    if (!found) {
        found = ask_object(read, around);  // takes the GIL: without the lock
        const std::scoped_lock lock(all.mutex);
        all.known.emplace(name, *found);
    }
    if (!found->fault.empty()) model.refuse(found->fault);
    return found->made;
}

}  // namespace

std::shared_ptr<const OwnProblem> own_problem(const py::object& described) {
    OwnProblem made;
    const std::vector<PartOption> options = options_of(described);
    made.options = names_of_options(options);
    made.takes_data = described.attr("takes_data").cast<bool>();
    made.make = [held = hold(described), options, all = std::make_shared<KnownProblems>()](
                    const Place& model, const Around& around) {
        const auto read =
            std::make_shared<const ReadProblem>(ReadProblem{held, checked_options(model, options)});
        return made_of(*all, model, read, around);
    };
    return std::make_shared<const OwnProblem>(std::move(made));
}

}  // namespace paceline::python
