// Methods that train locally and average periodically.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/local/bmuf.hpp"
#include "algorithms/local/cocod_sgd.hpp"
#include "algorithms/local/diloco.hpp"
#include "algorithms/local/easgd.hpp"
#include "algorithms/local/local_adam.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/local/noloco.hpp"
#include "algorithms/local/overlap_local_sgd.hpp"
#include "algorithms/local/post_local_sgd.hpp"
#include "algorithms/local/slowmo.hpp"
#include "algorithms/local/sparseloco.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/local_step_models.hpp"
#include "analysis/forms/message_counts.hpp"
#include "app/scenario/algorithms/blocks.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/neighbors.hpp"
#include "app/scenario/algorithms/parts_of_models.hpp"

namespace paceline {

namespace {

constexpr auto bases = std::to_array<Spelling<Base>>({{"local", Base::local},
                                                      {"sgp", Base::sgp},
                                                      {"osgp", Base::osgp},
                                                      {"dsgd", Base::dsgd},
                                                      {"all-reduce", Base::all_reduce},
                                                      {"local-adam", Base::local_adam},
                                                      {"sgp-adam", Base::sgp_adam}});
constexpr auto block_forms =
    std::to_array<Spelling<BlockForm>>({{"classical", BlockForm::classical},
                                        {"nesterov", BlockForm::nesterov},
                                        {"nesterov-folded", BlockForm::nesterov_folded}});

// Reads methods that wait for averages of so many vectors at the end of each block, behind the
// `first` block.
template <class Options>
AlgorithmChoice blocking(const ObjectReader& read, const AlgorithmInput& in, Options& options,
                         int vectors = 1, std::int64_t first = 0) {
    AlgorithmChoice choice;
    read_blocks(read, in, choice, options);
    cost_blocks(choice, in, options.exchange, options.period, vectors, first);
    choice.kept =
        kept_by_inner(options.inner, in) + kept_by_codec(options.exchange.codec, in.workers);
    return choice;
}

// Does the same for methods whose average overlaps with a block, but for the first `blocks_alone`.
template <class Options>
AlgorithmChoice overlapping(const ObjectReader& read, const AlgorithmInput& in, Options& options,
                            std::int64_t blocks_alone = 0) {
    options.inner = read_inner_rule(read, in, "sgd");
    AlgorithmChoice choice = blocking(read, in, options);
    choice.kept.reset();  // anchors and averages on their way differ from method to method
    const ExchangeOptions exchange = options.exchange;
    const std::int64_t period = options.period;
    const std::int64_t first = blocks_alone * period;
    choice.contribution = [later = choice.contribution, first](const Layout& layout, std::int64_t k,
                                                               double epoch) {
        return k < first ? Bytes{} : later(layout, k, epoch);
    };
    choice.model_step = [=](const StepModelInput& in, std::int64_t k, double) {
        return k < first ? lone_step_time(in)
                         : overlapped_average_step_time(exchange, period, k, in);
    };
    choice.messages = [=](const StepModelInput& in, std::int64_t k) {
        return k >= first && k % period == 0 ? exchange_messages(exchange, in) : 0;
    };
    choice.stage = [=](std::int64_t k, double) { return k < first ? 0.0 : 1.0; };
    return choice;
}

AlgorithmChoice read_local_sgd_of(const ObjectReader& read, const AlgorithmInput& in,
                                  LocalSgdOptions options) {
    if (const auto p = read.optional("buffers"))
        options.buffers = as_choice(*p, "what happens to buffers", buffer_strategies);
    AlgorithmChoice choice =
        blocking(read, in, options, averaged_vectors(options), options.switch_step);
    choice.run = [options](Worker& worker) { return local_sgd(worker, options); };
    return choice;
}

AlgorithmChoice read_local_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    return read_local_sgd_of(read, in, {.inner = read_inner_rule(read, in, "sgd")});
}

AlgorithmChoice read_post_local_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    LocalSgdOptions options = post_local_sgd(
        as_integer(read.required("switch_step", "such as 1000"), 0, most_steps_of_an_option));
    options.inner = read_inner_rule(read, in, "sgd");
    return read_local_sgd_of(read, in, options);
}

AlgorithmChoice read_local_adam(const ObjectReader& read, const AlgorithmInput& in) {
    LocalSgdOptions options = local_adam();
    options.inner = read_adam_rule(read, in, {});
    return read_local_sgd_of(read, in, options);
}

AlgorithmChoice read_bmuf(const ObjectReader& read, const AlgorithmInput& in) {
    BmufOptions options;
    options.block_momentum = 1 - 1.0 / in.workers;
    if (const auto p = read.optional("block_momentum")) options.block_momentum = as_share(*p);
    if (const auto p = read.optional("block_learning_rate"))
        options.block_learning_rate = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("form"))
        options.form = as_choice(*p, "a form of block momentum", block_forms);
    options.inner = read_inner_rule(read, in, "sgd");
    AlgorithmChoice choice = blocking(read, in, options);
    *choice.kept += 2;  // the model of the last block and the block momentum
    choice.run = [options](Worker& worker) { return bmuf(worker, options); };
    return choice;
}

AlgorithmChoice read_diloco_of(const ObjectReader& read, const AlgorithmInput& in,
                               DilocoOptions options) {
    AlgorithmChoice choice = read_outer_steps(read, in, options);
    cost_blocks(choice, in, options.exchange, options.period);
    choice.run = [options](Worker& worker) { return diloco(worker, options); };
    return choice;
}

AlgorithmChoice read_diloco(const ObjectReader& read, const AlgorithmInput& in) {
    return read_diloco_of(read, in, {});
}

AlgorithmChoice read_sparseloco(const ObjectReader& read, const AlgorithmInput& in) {
    return read_diloco_of(read, in, sparseloco());
}

AlgorithmChoice read_noloco(const ObjectReader& read, const AlgorithmInput& in) {
    constexpr int vectors = 2;
    NolocoOptions options;
    options.inner = read_inner_rule(read, in);
    read_outer_rate(read, &options.outer_learning_rate, &options.outer_momentum);
    options.pull = options.outer_learning_rate;
    if (const auto p = read.optional("pull")) options.pull = as_number_up_to(*p, 1e9);
    AlgorithmChoice choice = neighborly(read, in, vectors, false);
    options.exchange = *choice.exchange;
    read_period(read, choice, options);
    at_ends_of_blocks(choice, options.period);
    choice.kept = kept_by_inner(options.inner, in) + vectors;  // the outer model and its momentum
    choice.run = [options](Worker& worker) { return noloco(worker, options); };
    return choice;
}

AlgorithmChoice read_easgd(const ObjectReader& read, const AlgorithmInput& in) {
    EasgdOptions options;
    options.alpha = 0.9 / in.workers;
    if (const auto p = read.optional("alpha"))
        options.alpha = as_number_up_to(*p, 1.0 / in.workers);
    options.inner = read_inner_rule(read, in, "sgd");
    AlgorithmChoice choice = blocking(read, in, options);
    *choice.kept += 1;  // the center
    choice.run = [options](Worker& worker) { return easgd(worker, options); };
    return choice;
}

AlgorithmChoice read_cocod_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    CocodSgdOptions options;
    AlgorithmChoice choice = overlapping(read, in, options);
    choice.run = [options](Worker& worker) { return cocod_sgd(worker, options); };
    return choice;
}

AlgorithmChoice read_overlap_local_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    OverlapLocalSgdOptions options;
    if (const auto p = read.optional("alpha")) options.alpha = as_number_up_to(*p, 1);
    if (const auto p = read.optional("anchor_momentum")) options.anchor_momentum = as_share(*p);
    AlgorithmChoice choice = overlapping(read, in, options, 1);
    choice.run = [options](Worker& worker) { return overlap_local_sgd(worker, options); };
    return choice;
}

bool pushes(Base base) {
    return base == Base::sgp || base == Base::osgp || base == Base::sgp_adam;
}

bool is_decentralized(Base base) {
    return pushes(base) || base == Base::dsgd;
}

void read_base(const ObjectReader& read, const AlgorithmInput& in, BaseOptions& base) {
    base.rule = rule_of(in.optimizer);
    if (const auto p = read.optional("base")) {
        base.base = as_choice(*p, "a base optimizer", bases);
        if (is_adam(base.base) && base.rule.nesterov)
            p->refuse("Adam has no Nesterov form here; leave out the optimizer's \"nesterov\"");
        if (in.around != Features() && base.base == Base::all_reduce)
            p->refuse(
                "has no islands: all workers have one model, so that one island would be all of "
                "them; any other base has");
    }
    if (const auto p = read.optional("mixing"); p && !is_decentralized(base.base))
        p->refuse(
            "is for the bases \"sgp\", \"osgp\", \"sgp-adam\" and \"dsgd\"; the others have no "
            "neighbors");
    for (const char* key : {"beta2", "epsilon"})
        if (const auto p = read.optional(key); p && !is_adam(base.base))
            p->refuse("is for the bases \"local-adam\" and \"sgp-adam\"");
    if (const auto p = read.optional("beta2")) base.beta2 = as_share(*p);
    if (const auto p = read.optional("epsilon")) base.epsilon = as_number_above(*p, 0, 1);
}

void read_average_and_buffers(const ObjectReader& read, SlowmoOptions& options) {
    const Base base = options.base.base;
    options.average = base != Base::all_reduce;
    if (const auto p = read.optional("average")) {
        options.average = as_bool(*p);
        if (!options.average && (base == Base::local || base == Base::local_adam))
            p->refuse(
                "nothing would be exchanged; false is for bases that exchange, such as \"sgp\"");
    }
    if (is_adam(base)) options.buffers = Buffers::maintain;
    if (const auto p = read.optional("buffers")) {
        options.buffers = as_choice(*p, "what happens to buffers", buffer_strategies);
        if (options.buffers == Buffers::average && !options.average)
            p->refuse("buffers are averaged where models are; \"average\" is false");
    }
}

// Returns the entries that the base sends in each step.
std::int64_t entries_of_base(Base base, std::int64_t model) {
    if (pushes(base)) return model + 1;
    return base == Base::dsgd || base == Base::all_reduce ? model : 0;
}

void cost_slowmo(AlgorithmChoice& choice, const SlowmoOptions& options, int workers) {
    const auto make = choice.mixing.make;
    const auto base_messages = choice.messages;  // set if the base is decentralized
    choice.contribution = [options, wire = choice.wire, workers](const Layout& layout, std::int64_t,
                                                                 double) {
        const Bytes average = form_of_contribution(options.exchange, layout, wire, workers);
        return wire.weigh(entries_of_base(options.base.base, layout.entries())) +
               share_of_steps(averaged_vectors(options) * average, options.period);
    };
    choice.model_step = [options, make](const StepModelInput& in, std::int64_t k, double) {
        constexpr std::uint64_t any_seed = 1;  // times do not depend on it
        const MixingPtr mixing = make ? make(any_seed).at(k) : nullptr;
        return slowmo_step_time(options, mixing.get(), k, in);
    };
    choice.messages = [options, base_messages](const StepModelInput& in, std::int64_t k) {
        const std::int64_t of_average = exchange_messages(options.exchange, in);
        std::int64_t messages = base_messages ? base_messages(in, k) : 0;
        if (options.base.base == Base::all_reduce)
            messages += all_reduce_messages(options.base.all_reduce, in.workers,
                                            in.wire.weigh(in.layout->entries()));
        if (ends_block(k, options.period)) messages += averaged_vectors(options) * of_average;
        return messages;
    };
}

AlgorithmChoice read_slowmo(const ObjectReader& read, const AlgorithmInput& in) {
    SlowmoOptions options;
    read_base(read, in, options.base);
    read_average_and_buffers(read, options);
    if (const auto p = read.optional("alpha")) options.slow.alpha = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("beta")) options.slow.beta = as_share(*p);
    AlgorithmChoice choice;
    const MixingUse use = pushes(options.base.base) ? MixingUse::edges : MixingUse::averages;
    if (is_decentralized(options.base.base)) choice = decentralized(read, in, 1, false, use);
    choice.averages_all = true;
    const int to_neighbors = choice.sends_at_once;
    read_blocks(read, in, choice, options);
    choice.sends_at_once = std::max(choice.sends_at_once, to_neighbors);
    options.base.all_reduce = options.exchange.aggregation.all_reduce;
    choice.run = [options](Worker& worker) { return slowmo(worker, options); };
    choice.is_replicated = options.base.base == Base::all_reduce;
    const double codec = kept_by_codec(options.exchange.codec, in.workers);
    constexpr double outer = 2;  // the anchor and the slow momentum
    if (options.base.base == Base::local || options.base.base == Base::local_adam)
        choice.kept = kept_by_inner(inner_of(options.base), in) + outer + codec;
    cost_slowmo(choice, options, in.workers);
    return choice;
}

constexpr AlgorithmTraits local_steps{.when_nodes_die = WhenNodesDie::reruns_models,
                                      .decays_by_itself = true,
                                      .supports_nesterov_and_clipping = true};

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto local_algorithms = std::to_array<AlgorithmEntry>({
    {"local-sgd", "workers train alone, models are averaged every few steps",
     "Stich, ICLR 2019; released code: epfml/LocalSGD-Code", Feature::models, &read_local_sgd,
     local_steps},
    {"post-local-sgd", "averages after every step at first, then now and then (ICLR 2020)",
     "Lin et al., ICLR 2020; released code: epfml/LocalSGD-Code", Feature::models,
     &read_post_local_sgd, local_steps},
    {"slowmo", "SlowMo: a slow momentum over blocks of a base optimizer (ICLR 2020)",
     "Wang, Tantia, Ballas, Rabbat, ICLR 2020, Algorithm 1", Feature::models, &read_slowmo,
     local_steps},
    {"bmuf", "block momentum (ICASSP 2016); its form \"nesterov\" from memory",
     "Chen, Huo, ICASSP 2016; released code: CNTK, fairseq", Feature::models, &read_bmuf,
     local_steps},
    {"diloco",
     "DiLoCo: AdamW alone, an outer Nesterov step on what blocks move (2023)",
     "Douillard et al., 2023; released code: OpenDiLoCo",
     Feature::outer_gradients,
     &read_diloco,
     {.when_nodes_die = WhenNodesDie::reruns_models, .decays_by_itself = true}},
    {"sparseloco",
     "SparseLoCo: DiLoCo with top-k by chunk and error feedback, no outer momentum (2025)",
     "Sarfi et al., 2025; released code: one-covenant/templar, tplr-ai/CCLoco",
     Feature::outer_gradients,
     &read_sparseloco,
     {.when_nodes_die = WhenNodesDie::reruns_models, .decays_by_itself = true}},
    {"noloco",
     "NoLoCo: blocks of AdamW, outer steps with one other worker, drawn at random (2025)",
     "Kolehmainen et al., 2025; released code: gensyn-ai/noloco",
     Feature::neighbor_blocks,
     &read_noloco,
     {.when_nodes_die = WhenNodesDie::renormalizes, .decays_by_itself = true}},
    {"streaming-diloco",
     "DiLoCo in fragments, each averaged during the next steps (2025)",
     "Douillard et al., 2025; released code of another group: pytorch/torchft",
     Feature::fragments,
     &read_streaming_diloco,
     {.when_nodes_die = WhenNodesDie::reruns_models, .decays_by_itself = true}},
    {"local-adam",
     "AdamW on each worker alone, models averaged every few steps",
     "Wang et al., ICLR 2020 (released code: fairscale); Cheng, Glasgow, ICLR 2025",
     Feature::models,
     &read_local_adam,
     {.when_nodes_die = WhenNodesDie::reruns_models, .decays_by_itself = true}},
    {"sparta",
     "SPARTA: AdamW on each worker, a random share of the models averaged in every step (2025)",
     "released code: exo-explore/gym, exogym/strategy/sparta.py",
     Feature::shares,
     &read_sparta,
     {.when_nodes_die = WhenNodesDie::reruns_models, .decays_by_itself = true}},
    {"overlap-local-sgd", "an anchor model, averaged during the next steps (ICASSP 2020)",
     "Wang, Liang, Joshi, ICASSP 2020; released code: JYWa/Overlap_Local_SGD", Feature::models,
     &read_overlap_local_sgd, local_steps},
    {"cocod-sgd", "CoCoD: models averaged during the steps that start from them (IJCAI 2019)",
     "Shen et al., IJCAI 2019; released code: JYWa/Overlap_Local_SGD", Feature::models,
     &read_cocod_sgd, local_steps},
    {"easgd", "elastic averaging, synchronous (NeurIPS 2015); with momentum EAMSGD",
     "Zhang, Choromanska, LeCun, NeurIPS 2015", Feature::models, &read_easgd, local_steps},
});

}  // namespace

std::span<const AlgorithmEntry> local_family() {
    return local_algorithms;
}

}  // namespace paceline
