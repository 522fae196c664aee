// One collective per step, without training.
#include "algorithms/collective/collective.hpp"

#include <array>
#include <limits>

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

constexpr auto rooted_methods = std::to_array<Spelling<RootedMethod>>({
    {"binomial", RootedMethod::binomial},
    {"at-once", RootedMethod::at_once},
    {"chain", RootedMethod::chain},
    {"ring", RootedMethod::ring},
});

void read_method(const Place& place, CollectiveOptions& options) {
    options.method = as_choice(place, "a method", rooted_methods);
    const bool broadcasts = options.operation == Operation::broadcast;
    if (!broadcasts && options.operation != Operation::reduce)
        place.refuse("is for the operations \"broadcast\" and \"reduce\"");
    if (options.method == RootedMethod::ring && broadcasts)
        place.refuse(
            "is for \"reduce\"; a broadcast goes by \"binomial\", \"at-once\" or \"chain\"");
    if (options.method == RootedMethod::at_once && !broadcasts)
        place.refuse("is for \"broadcast\"; a reduce goes by \"binomial\", \"chain\" or \"ring\"");
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
    if (const auto p = read.optional("method")) read_method(*p, options);
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
