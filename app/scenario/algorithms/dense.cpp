// Methods that average whole gradients in every step.
#include <array>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "algorithms/dense/pmsgd_lars.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/synchronous.hpp"

namespace paceline {

namespace {

ExchangeOptions read_dense_exchange(const ObjectReader& read, const AlgorithmInput& in,
                                    AlgorithmChoice& choice) {
    AllReducePlan plan;
    if (const auto p = read.optional("all_reduce")) plan = read_all_reduce(*p, in);
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    choice.vectors = vectors_of_replicas;
    return read_exchange(read, in, dense_exchange(plan), choice);
}

AlgorithmChoice read_dense(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    const ExchangeOptions exchange = read_dense_exchange(read, in, choice);
    return synchronous(std::move(choice), in, exchange);
}

// DGC's codec holds the momentum, so the step that follows is DGC's.
AlgorithmChoice read_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    const ExchangeOptions exchange = read_exchange(read, in, dense_exchange({}), choice);
    if (std::holds_alternative<DgcOptions>(exchange.codec.coder))
        return sparse_sgd(std::move(choice), in, exchange);
    if (const auto* const coder = std::get_if<Compressor>(&exchange.codec.coder);
        coder != nullptr && coder->lossless && exchange.schedule.whole)
        choice.vectors = vectors_of_replicas;
    return synchronous(std::move(choice), in, exchange);
}

AlgorithmChoice read_pmsgd_lars(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    PmsgdLarsOptions options;
    options.exchange = read_dense_exchange(read, in, choice);
    if (const auto p = read.optional("trust")) options.lars.trust = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("larc")) options.lars.clip = as_bool(*p);
    options.momentum = in.optimizer.momentum;
    options.lars.weight_decay = in.optimizer.weight_decay;
    cost_by_exchange(choice, in, options.exchange);
    choice.run = [options](Worker& worker) { return pmsgd_lars(worker, options); };
    return choice;
}

AlgorithmChoice read_overlapped(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    AllReducePlan plan;
    if (const auto p = read.optional("all_reduce")) plan = read_all_reduce(*p, in);
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    choice.bucket = Bytes{25 << 20};
    if (const auto p = read.optional("bucket")) {
        choice.bucket = as_bytes(*p);
        if (choice.bucket->count == 0) p->refuse("a bucket holds a byte or more");
    }
    const ExchangeOptions exchange = read_exchange(read, in, overlapped_exchange(plan), choice);
    return synchronous(std::move(choice), in, exchange);
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto dense_algorithms = std::to_array<AlgorithmEntry>({
    {"sgd", "synchronous SGD by any codec, transport and schedule", &read_sgd,
     momentum_sgd_on_replicas},
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
