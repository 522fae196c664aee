#include "app/scenario/algorithms/synchronous.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "analysis/forms/zero_forms.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"

namespace paceline {

AlgorithmChoice synchronous(AlgorithmChoice choice, const AlgorithmInput& in,
                            const ExchangeOptions& exchange) {
    const SharedValue<SynchronousSgdOptions> options(
        SynchronousSgdOptions{exchange, rule_of(in.optimizer)});
    cost_by_exchange(choice, in, exchange);
    choice.kept = kept_by_momentum(in) + kept_by_codec(exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return synchronous_sgd(worker, options); };
    return choice;
}

namespace {

ZeroReduce as_reduce(const Place& place) {
    constexpr auto when = std::to_array<Spelling<ZeroReduce>>(
        {{"each", ZeroReduce::each}, {"last", ZeroReduce::last}});
    return as_choice(place, "the micro-batches that reduce gradients", when);
}

}  // namespace

void read_sharding(const ObjectReader& read, const AlgorithmInput& in, ZeroOptions& options,
                   AlgorithmChoice& choice) {
    if (const auto p = read.optional("stage"))
        options.stage = static_cast<int>(as_integer(*p, 1, 3));
    options.reduce = usual_reduce(options.stage);
    if (const auto p = read.optional("reduce")) options.reduce = as_reduce(*p);
    if (in.library.method == AllReduce::nccl) options.library = in.library.library;
    if (const auto p = read.optional("prefetch")) {
        options.prefetch = static_cast<int>(as_integer(*p, 0, 1000));
        if (options.stage < 3)
            p->refuse("is for stage 3; stages 1 and 2 gather nothing ahead of a forward pass");
    }
    choice.goes_around = true;
    choice.bucket = Bytes{25 << 20};
    if (const auto p = read.optional("unit")) {
        choice.bucket = as_bytes(*p);
        if (choice.bucket->count == 0) p->refuse("must be at least one byte");
    }
}

void cost_sharding(AlgorithmChoice& choice, const ZeroOptions& options) {
    choice.contribution = [wire = choice.wire](const Layout& layout, std::int64_t, double) {
        return wire.weigh(layout.entries());
    };
    choice.model_step = [options](const StepModelInput& at, std::int64_t, double) {
        return zero_step_time(options, at);
    };
    choice.messages = [options](const StepModelInput& at, std::int64_t) {
        return zero_messages(options, at);
    };
    choice.memory = [options](const StepModelInput& at) {
        std::int64_t largest = 0;
        for (const Bucket& bucket : at.timing.buckets)
            largest = std::max(largest, entries_of(bucket, *at.layout));
        return zero_memory(options, at.layout->entries(), largest, at.wire, at.workers,
                           at.timing.gradients);
    };
}

}  // namespace paceline
