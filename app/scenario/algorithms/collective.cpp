// One collective per step, without training.
#include "algorithms/collective/collective.hpp"

#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/forms/message_counts.hpp"
#include "analysis/forms/step_models.hpp"
#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/families.hpp"

namespace paceline {

namespace {

constexpr auto operations = std::to_array<Spelling<Operation>>({
    {"all-reduce", Operation::all_reduce},
    {"reduce-scatter", Operation::reduce_scatter},
    {"all-gather-ring", Operation::all_gather_ring},
    {"all-gather-bruck", Operation::all_gather_bruck},
    {"all-to-all", Operation::all_to_all},
    {"broadcast", Operation::broadcast},
    {"reduce", Operation::reduce},
});

constexpr auto rooted_methods = std::to_array<Spelling<std::optional<RootedMethod>>>({
    {"binomial", RootedMethod::binomial},
    {"at-once", RootedMethod::at_once},
    {"chain", RootedMethod::chain},
    {"ring", RootedMethod::ring},
    {"library", std::nullopt},
});

bool goes_by_library(Operation operation) {
    return operation != Operation::all_reduce && operation != Operation::all_gather_bruck &&
           operation != Operation::all_to_all;
}

void read_method(const Place& place, const WorkerShape& shape, CollectiveOptions& options) {
    const auto method = as_choice(place, "a method", rooted_methods);
    if (!method) {
        if (!goes_by_library(options.operation))
            place.refuse(
                "is for the operations \"reduce-scatter\", \"all-gather-ring\", \"broadcast\" and "
                "\"reduce\"");
        if (shape.library.method != AllReduce::nccl)
            place.refuse("needs a library that chooses: set \"cluster.library\" to \"nccl\"");
        options.library = shape.library.library;
        return;
    }
    options.method = *method;
    const bool broadcasts = options.operation == Operation::broadcast;
    if (!broadcasts && options.operation != Operation::reduce)
        place.refuse("is for the operations \"broadcast\" and \"reduce\"");
    if (options.method == RootedMethod::ring && broadcasts)
        place.refuse(
            "is for \"reduce\"; a broadcast goes by \"binomial\", \"at-once\" or \"chain\"");
    if (options.method == RootedMethod::at_once && !broadcasts)
        place.refuse("is for \"broadcast\"; a reduce goes by \"binomial\", \"chain\" or \"ring\"");
}

// doc/PERFORMANCE.md of NVIDIA/nccl-tests; all-to-all: src/alltoall.cu.
double bus_share(Operation operation, int workers) {
    const double others = static_cast<double>(workers - 1) / workers;
    switch (operation) {
        case Operation::all_reduce:
            return 2 * others;
        case Operation::reduce_scatter:
        case Operation::all_gather_ring:
        case Operation::all_gather_bruck:
        case Operation::all_to_all:
            return others;
        case Operation::broadcast:
        case Operation::reduce:
            break;
    }
    return 1;
}

AlgorithmChoice read_collective(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    CollectiveOptions options;
    const Place operation = read.required("operation", "such as \"all-to-all\"");
    options.operation = as_choice(operation, "a collective operation", operations);
    if (const auto p = read.optional("all_reduce")) {
        if (options.operation != Operation::all_reduce)
            p->refuse("is for the operation \"all-reduce\" alone");
        options.all_reduce = read_all_reduce(*p, in);
        choice.has_rings_of_cards = options.all_reduce.cards > 1;
    }
    if (const auto p = read.optional("method")) read_method(*p, in, options);
    for (const char* key : {"slice", "in_flight", "slots", "buffer", "channels"})
        if (const auto p = read.optional(key);
            p && options.method != RootedMethod::chain && options.method != RootedMethod::ring)
            p->refuse("is for the methods \"chain\" and \"ring\"");
    options.slices = read_slices(read);
    if (const auto p = read.optional("all_to_all")) {
        if (options.operation != Operation::all_to_all)
            p->refuse("is for the operation \"all-to-all\" alone");
        options.all_to_all = read_all_to_all(*p);
    }
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);

    if (options.operation == Operation::all_reduce) use_all_reduce(choice, options.all_reduce);
    if (options.operation == Operation::all_gather_ring ||
        options.operation == Operation::reduce_scatter || options.method == RootedMethod::ring)
        choice.goes_around = true;
    if (options.operation == Operation::all_to_all) choice.meets_everybody = true;
    choice.run = [options](Worker& worker) { return collective(worker, options); };
    choice.contribution = [wire = choice.wire](const Layout& layout, std::int64_t, double) {
        return wire.weigh(layout.entries());
    };
    choice.bus_share = [operation = options.operation](int workers) {
        return bus_share(operation, workers);
    };
    // Consecutive broadcasts overlap, so only the first has a closed form.
    const bool pipelined = options.operation == Operation::broadcast;
    choice.stage = [pipelined](std::int64_t k, double) { return pipelined && k > 0 ? 1.0 : 0.0; };
    choice.model_step = [options, pipelined](const StepModelInput& in, std::int64_t k, double) {
        return pipelined && k > 0 ? std::nullopt : collective_step_time(options, in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        return collective_messages(options, in.workers, in.wire.weigh(in.layout->entries()));
    };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto collective_algorithms = std::to_array<AlgorithmEntry>({
    {"collective",
     "one collective per step and no training: measures a network",
     "",
     Feature::nothing,
     &read_collective,
     {.trains = false}},
});

}  // namespace

std::span<const AlgorithmEntry> collective_family() {
    return collective_algorithms;
}

}  // namespace paceline
