#include "app/scenario/workload/own_problem.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

namespace {

// Returns the data of a problem with samples of its own, which nobody else sees.
DataChoice samples_of(const OwnProblem::Made& made, const Place& model, int workers) {
    if (made.samples < workers)
        model.refuse(fmt::format("has {} training samples for {} workers; each needs one",
                                 made.samples, workers));
    DataChoice choice;
    choice.name = made.name;
    choice.identity = "samples of " + model.json->dump();
    choice.shape.train = made.samples;
    choice.shape.test = 1;
    choice.shape.predicts = Prediction::number;
    choice.shards_are_even = !made.shards;
    choice.set = [] { return std::make_shared<const Dataset>(); };
    choice.deal = [shards = made.shards, samples = static_cast<int>(made.samples)](
                      int n, const RandomStreams& streams) {
        if (shards) return *shards;
        RandomStream stream = streams.stream("partition");
        return partition_iid(samples, n, stream);
    };
    return choice;
}

}  // namespace

OwnModel read_own_problem(const OwnProblem& own, const Place& model, const Place* data, int workers,
                          std::uint64_t seed) {
    std::vector<std::string_view> keys{"kind", "label"};
    keys.insert(keys.end(), own.options.begin(), own.options.end());
    const ObjectReader read(model, keys);
    if (data != nullptr && !own.takes_data)
        data->refuse(
            "cannot be used with a problem that has its own samples; let its __init__ take "
            "\"data\"");
    if (data == nullptr && own.takes_data)
        model.refuse("takes data, and the workload has none: \"data\" is missing");
    OwnModel both;
    if (data != nullptr) both.data = read_data(*data, workers, seed);
    const OwnProblem::Made made =
        own.make(model, {data != nullptr ? &both.data : nullptr, workers, seed});
    if (data == nullptr) both.data = samples_of(made, model, workers);
    both.data.shape.predicts = made.classifies ? Prediction::label : Prediction::number;
    both.model.name = made.name;
    both.model.layout = made.layout;
    both.model.tensor_macs.resize(made.layout->tensors().size());
    both.model.problem = made.problem;
    return both;
}

}  // namespace paceline
