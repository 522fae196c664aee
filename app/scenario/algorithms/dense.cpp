// Methods that average whole gradients in every step.
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/dense/pmsgd_lars.hpp"
#include "algorithms/dense/zero.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/synchronous.hpp"

namespace paceline {

namespace {

ExchangeOptions read_gradient_exchange(const ObjectReader& read, const AlgorithmInput& in,
                                       AlgorithmChoice& choice) {
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    return read_exchange(read, in, dense_exchange({}), choice);
}

// As measured: with the message and the error of a codec.
constexpr double vectors_with_codec = 2.2;

// DGC's codec holds the momentum, so the step that follows is DGC's.
AlgorithmChoice read_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    const ExchangeOptions exchange = read_gradient_exchange(read, in, choice);
    if (std::holds_alternative<DgcOptions>(exchange.codec.coder))
        return sparse_sgd(std::move(choice), in, exchange);
    const auto* const coder = std::get_if<Compressor>(&exchange.codec.coder);
    if (coder == nullptr || !coder->lossless) choice.vectors = vectors_with_codec;
    return synchronous(std::move(choice), in, exchange);
}

AlgorithmChoice read_pmsgd_lars(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    PmsgdLarsOptions options;
    options.exchange = read_gradient_exchange(read, in, choice);
    if (const auto p = read.optional("trust")) options.lars.trust = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("larc")) options.lars.clip = as_bool(*p);
    options.momentum = in.optimizer.momentum;
    options.lars.weight_decay = in.optimizer.weight_decay;
    cost_by_exchange(choice, in, options.exchange);
    choice.run = [options](Worker& worker) { return pmsgd_lars(worker, options); };
    return choice;
}

// Returns 0 for shards on all workers, or the workers of a machine or of a group of a level.
int as_shards(const Place& place, const AlgorithmInput& in) {
    std::vector<std::string_view> known = in.levels.names();
    known.insert(known.begin(), "all");
    const std::size_t where = as_name(place, "where shards stand", known);
    if (where == 0) return 0;
    if (known[where] != machine_level) return read_block_level(place, in);
    if (in.devices_per_node < 2)
        place.refuse(
            "a machine of one device has no shards; set \"cluster.devices_per_node\", or write "
            "\"shards\": \"all\"");
    in.check_even(place);
    if (in.workers % in.devices_per_node != 0)
        place.refuse(
            fmt::format("shards by machine need full machines: {} devices do not fill "
                        "machines of {}",
                        in.workers, in.devices_per_node));
    return in.devices_per_node;
}

AlgorithmChoice read_zero(const ObjectReader& read, const AlgorithmInput& in) {
    ZeroOptions options;
    options.rule = read_adam_rule(read, in, options.rule);
    if (const auto p = read.optional("shards")) options.machine = as_shards(*p, in);
    if (const auto p = read.optional("rings"); p && options.machine > 0 && *p->json == "per-card")
        p->refuse(
            "is for shards on all workers: those of a machine are gathered inside it, and their "
            "copies use all cards already; write \"one\", or \"shards\": \"all\"");
    options.cards = read_rings(read, in);
    AlgorithmChoice choice;
    read_sharding(read, in, options, choice);
    choice.has_rings_of_cards = options.cards > 1;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    choice.vectors = vectors_of_replicas;
    cost_sharding(choice, options);
    choice.run = [options](Worker& worker) { return zero(worker, options); };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto dense_algorithms = std::to_array<AlgorithmEntry>({
    {"sgd", "synchronous SGD by any codec, aggregation and schedule",
     "Xu et al., ICDCS 2021 (GRACE); Stich et al., NeurIPS 2018; Karimireddy et al., ICML 2019; "
     "Tang et al., ICML 2019 and 2021",
     Feature::momentum_sgd, &read_sgd, momentum_sgd_on_replicas},
    {"dense", "synchronous SGD, gradients all-reduced whole",
     "Goyal et al., arXiv 1706.02677, 2017; Sutskever et al., ICML 2013", Feature::momentum_sgd,
     &read_sgd, momentum_sgd_on_replicas},
    {"pmsgd", "dense, as the literature of decentralized training names it",
     "Yuan et al., ICCV 2021 (as a baseline)", Feature::momentum_sgd, &read_sgd,
     momentum_sgd_on_replicas},
    {"pmsgd-lars",
     "the same with LARS (You et al., 2017)",
     "You et al., arXiv 1708.03888, 2017; released code: NVIDIA Apex LARC",
     Feature::layerwise,
     &read_pmsgd_lars,
     {.when_nodes_die = WhenNodesDie::reruns_replicas, .decays_by_itself = true}},
    {"zero",
     "ZeRO 1, 2, 3 (FSDP), HSDP: Adam with sharded moments, gradients, parameters (SC 2020)",
     "Rajbhandari et al., SC 2020",
     Feature::sharded,
     &read_zero,
     {.decays_by_itself = true}},
});

}  // namespace

std::span<const AlgorithmEntry> dense_family() {
    return dense_algorithms;
}

}  // namespace paceline
