// Methods that average whole gradients in every step.
#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/dense/dense_sgd.hpp"
#include "algorithms/dense/overlapped_sgd.hpp"
#include "algorithms/dense/pmsgd_lars.hpp"
#include "analysis/forms/message_counts.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/families.hpp"

namespace paceline {

namespace {

AlgorithmChoice read_dense(const ObjectReader& read, const AlgorithmInput& in) {
    return dense(read, in, AllReduce::ring);
}

// Costs the same as dense SGD, but trains differently.
AlgorithmChoice read_pmsgd_lars(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = read_dense(read, in);
    PmsgdLarsOptions options;
    if (const auto p = read.optional("all_reduce")) options.all_reduce = read_all_reduce(*p, in);
    if (const auto p = read.optional("trust")) options.lars.trust = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("larc")) options.lars.clip = as_bool(*p);
    options.momentum = in.optimizer.momentum;
    options.lars.weight_decay = in.optimizer.weight_decay;
    choice.run = [options](Worker& worker) { return pmsgd_lars(worker, options); };
    return choice;
}

AlgorithmChoice read_overlapped(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    OverlappedSgdOptions options;
    if (const auto p = read.optional("all_reduce")) options.all_reduce = read_all_reduce(*p, in);
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    choice.bucket = Bytes{25 << 20};
    if (const auto p = read.optional("bucket")) {
        choice.bucket = as_bytes(*p);
        if (choice.bucket->count == 0) p->refuse("a bucket holds a byte or more");
    }

    use_servers(choice, options.all_reduce);
    options.rule = rule_of(in.optimizer);
    choice.run = [options](Worker& worker) { return overlapped_sgd(worker, options); };
    choice.contribution = [wire = choice.wire](const Layout& layout, std::int64_t, double) {
        return wire.weigh(layout.entries());
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t, double) {
        return overlapped_sgd_step_time(options, in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        std::int64_t messages = 0;
        for (const Bucket& bucket : in.timing.buckets)
            messages += all_reduce_messages(options.all_reduce, in.workers,
                                            in.wire.weigh(entries_of(bucket, *in.layout)));
        return messages;
    };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto dense_algorithms = std::to_array<AlgorithmEntry>({
    {"dense", "synchronous SGD, gradients all-reduced whole", &read_dense,
     momentum_sgd_on_replicas},
    {"dense-overlapped", "the same, in buckets while backward runs on", &read_overlapped,
     momentum_sgd_on_replicas},
    {"pmsgd", "dense, as the literature of decentralized training names it", &read_dense,
     momentum_sgd_on_replicas},
    {"pmsgd-lars",
     "the same with LARS (You et al., 2017)",
     &read_pmsgd_lars,
     {.when_nodes_die = WhenNodesDie::reruns_replicas, .decays_by_itself = true}},
});

}  // namespace

std::span<const AlgorithmEntry> dense_family() {
    return dense_algorithms;
}

}  // namespace paceline
