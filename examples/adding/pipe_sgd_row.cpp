// The reader of "pipe-sgd" and its row, which would stand in app/scenario/algorithms/dense.cpp.
#include <array>
#include <cstdint>
#include <optional>

#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/local_step_models.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "examples/adding/pipe_sgd.hpp"
#include "examples/adding/rows.hpp"

namespace paceline {

namespace {

// Costs what dense SGD costs, except for when the exchange runs.
AlgorithmChoice read_pipe_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    PipeSgdOptions options;
    options.exchange = read_exchange(read, in, dense_exchange({}), choice);
    options.rule = rule_of(in.optimizer);
    cost_by_exchange(choice, in, options.exchange);
    choice.model_step = [exchange = options.exchange](const StepModelInput& at, std::int64_t k,
                                                      double) -> std::optional<Duration> {
        if (k == 0) return lone_step_time(at);
        return overlapped_average_step_time(exchange, 1, k, at);
    };
    choice.stage = [](std::int64_t k, double) { return k == 0 ? 0.0 : 1.0; };
    choice.ends_in_flight = true;
    choice.vectors = 4;  // model, momentum, gradient, and the average on its way
    choice.run = [options](Worker& worker) { return pipe_sgd(worker, options); };
    return choice;
}

constexpr auto algorithms = std::to_array<AlgorithmEntry>({
    {"pipe-sgd",
     "gradients all-reduced while the next ones are computed, from memory",
     "Li et al., NeurIPS 2018",
     Feature::models,
     &read_pipe_sgd,
     {.decays_by_itself = true, .supports_nesterov_and_clipping = true}},
});

}  // namespace

std::span<const AlgorithmEntry> example_algorithms() {
    return algorithms;
}

}  // namespace paceline
