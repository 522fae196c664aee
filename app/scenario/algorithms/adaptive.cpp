// Adam, LAMB and the 1-bit methods.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/adaptive/dense_adam.hpp"
#include "algorithms/adaptive/dense_lamb.hpp"
#include "algorithms/adaptive/one_bit_adam.hpp"
#include "algorithms/adaptive/one_bit_lamb.hpp"
#include "algorithms/adaptive/one_bit_sgd.hpp"
#include "algorithms/adaptive/zero_one_adam.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/adaptive_step_models.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"

namespace paceline {

namespace {

constexpr std::int64_t longest_local_interval = std::int64_t{1} << 20;

void read_trust(const ObjectReader& read, LambRule& rule) {
    if (const auto p = read.optional("min_trust")) rule.min_trust = as_number_up_to(*p, 1e9);
    if (const auto p = read.optional("max_trust")) rule.max_trust = as_number_above(*p, 0, 1e9);
    if (rule.min_trust > rule.max_trust)
        read.place().refuse(fmt::format("its \"min_trust\" is {}, above its \"max_trust\", {}",
                                        rule.min_trust, rule.max_trust));
}

// Sets what the methods have in common whose gradients take any exchange; dense unless it is
// chosen.
AlgorithmChoice with_exchange(const ObjectReader& read, const AlgorithmInput& in,
                              ExchangeOptions& options) {
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    options = read_exchange(read, in, dense_exchange({}), choice);
    choice.vectors = vectors_of_replicas;
    cost_by_exchange(choice, in, options);
    return choice;
}

// Reads the exchange of the 1-bit methods, whose plan is also that of uncompressed steps.
AlgorithmChoice with_one_bit(const ObjectReader& read, const AlgorithmInput& in, bool fused,
                             ExchangeOptions& uncompressed, ExchangeOptions& options) {
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    options = read_exchange(read, in, one_bit_exchange(fused, {}), choice);
    uncompressed = dense_exchange(options.aggregation.all_reduce);
    return choice;
}

// Returns the exchange with one buffer for the whole vector, if it has one for each tensor. Into
// forward there are no forms to compare, and pieces are buffers of their own anyway.
std::optional<ExchangeOptions> as_fused(ExchangeOptions options) {
    auto* const one_bit = std::get_if<OneBitCodec>(&options.codec.coder);
    if (one_bit == nullptr || one_bit->fused) return std::nullopt;
    if (options.schedule.begin == Begin::into_forward) return std::nullopt;
    one_bit->fused = true;
    return options;
}

// Sets the cost of a warm-up of this many steps by one exchange, then of another in every step.
void cost_in_two_stages(AlgorithmChoice& choice, const AlgorithmInput& in,
                        const ExchangeOptions& warm_up, const ExchangeOptions& options,
                        std::int64_t freeze_step) {
    const auto at_step = [=](std::int64_t k) -> const ExchangeOptions& {
        return k < freeze_step ? warm_up : options;
    };
    choice.contribution = [=, wire = choice.wire, workers = in.workers](const Layout& layout,
                                                                        std::int64_t k, double) {
        return form_of_contribution(at_step(k), layout, wire, workers);
    };
    if (const auto fused = as_fused(options))
        choice.fused_step = [=](const StepModelInput& at, std::int64_t k) {
            return exchange_step_time(k < freeze_step ? warm_up : *fused, 0, at);
        };
    choice.stage = [freeze_step](std::int64_t k, double) { return k < freeze_step ? 0.0 : 1.0; };
    choice.model_step = [=](const StepModelInput& at, std::int64_t k, double) {
        return exchange_step_time(at_step(k), 0, at);
    };
    choice.messages = [=](const StepModelInput& at, std::int64_t k) {
        return exchange_messages(at_step(k), at);
    };
}

AlgorithmChoice read_adam(const ObjectReader& read, const AlgorithmInput& in) {
    DenseAdamOptions options;
    AlgorithmChoice choice = with_exchange(read, in, options.exchange);
    options.rule = read_adam_rule(read, in, options.rule);
    if (const auto p = read.optional("bias_correction")) options.rule.bias_correction = as_bool(*p);
    choice.run = [options](Worker& worker) { return dense_adam(worker, options); };
    choice.kept = vectors_of_adam + kept_by_codec(options.exchange.codec, in.workers);
    return choice;
}

AlgorithmChoice read_lamb(const ObjectReader& read, const AlgorithmInput& in) {
    DenseLambOptions options;
    AlgorithmChoice choice = with_exchange(read, in, options.exchange);
    options.rule.adam = read_adam_rule(read, in, options.rule.adam);
    if (const auto p = read.optional("bias_correction"))
        options.rule.adam.bias_correction = as_bool(*p);
    read_trust(read, options.rule);
    choice.kept = vectors_of_adam + kept_by_codec(options.exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return dense_lamb(worker, options); };
    return choice;
}

AlgorithmChoice read_one_bit_adam(const ObjectReader& read, const AlgorithmInput& in) {
    OneBitAdamOptions options;
    AlgorithmChoice choice = with_one_bit(read, in, false, options.warm_up, options.exchange);
    options.rule = read_adam_rule(read, in, options.rule);
    if (const auto p = read.optional("freeze_step"))
        options.freeze_step = as_integer(*p, 1, most_steps_of_an_option);
    if (const auto p = read.optional("mask")) options.mask = as_bool(*p);
    choice.kept = vectors_of_adam + kept_by_codec(options.exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return one_bit_adam(worker, options); };
    cost_in_two_stages(choice, in, options.warm_up, options.exchange, options.freeze_step);
    return choice;
}

void read_factor(const ObjectReader& read, OneBitLambOptions& options) {
    if (const auto p = read.optional("coeff_beta")) options.coeff_beta = as_share(*p);
    if (const auto p = read.optional("factor_min")) options.factor_min = as_number_up_to(*p, 1e9);
    if (const auto p = read.optional("factor_max"))
        options.factor_max = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("factor_threshold")) options.factor_threshold = as_share(*p);
    if (options.factor_min > options.factor_max)
        read.place().refuse(fmt::format("its \"factor_min\" is {}, above its \"factor_max\", {}",
                                        options.factor_min, options.factor_max));
}

AlgorithmChoice read_one_bit_lamb(const ObjectReader& read, const AlgorithmInput& in) {
    OneBitLambOptions options;
    AlgorithmChoice choice = with_one_bit(read, in, true, options.warm_up, options.exchange);
    options.rule.adam = read_adam_rule(read, in, options.rule.adam);
    read_trust(read, options.rule);
    read_factor(read, options);
    if (const auto p = read.optional("freeze_step"))
        options.freeze_step = as_integer(*p, 1, most_steps_of_an_option);
    if (const auto p = read.optional("mask")) options.mask = as_bool(*p);
    choice.kept = vectors_of_adam + 1 +  // the fresh variance
                  kept_by_codec(options.exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return one_bit_lamb(worker, options); };
    cost_in_two_stages(choice, in, options.warm_up, options.exchange, options.freeze_step);
    return choice;
}

void read_intervals(const ObjectReader& read, ZeroOneAdamOptions& options) {
    if (const auto p = read.optional("var_freeze_step"))
        options.var_freeze_step = as_integer(*p, 0, most_steps_of_an_option);
    if (const auto p = read.optional("var_update_scaler"))
        options.var_update_scaler = as_integer(*p, 1, most_steps_of_an_option);
    if (const auto p = read.optional("local_step_scaler"))
        options.local_step_scaler = as_integer(*p, 1, most_steps_of_an_option);
    if (const auto p = read.optional("local_step_clipper")) {
        options.local_step_clipper = as_integer(*p, 1, longest_local_interval);
        if (!std::has_single_bit(static_cast<std::uint64_t>(options.local_step_clipper)))
            p->refuse("is not a power of two, such as 16: intervals double until they reach it");
    }
}

// Returns the bytes of step k. Those of a local step are the mean over an interval of them.
Bytes zero_one_bytes(const ZeroOneAdamOptions& options, const Layout& layout, WireFormat wire,
                     int workers, std::int64_t k) {
    if (zero_one_step(options, k) == ZeroOneStep::exact) return wire.weigh(layout.entries());
    const Bytes exchange = form_of_contribution(options.exchange, layout, wire, workers);
    const std::int64_t interval = zero_one_interval(options, k);
    return Bytes{std::max<std::int64_t>(exchange.count / interval, 1)};
}

AlgorithmChoice read_zero_one_adam(const ObjectReader& read, const AlgorithmInput& in) {
    ZeroOneAdamOptions options;
    AlgorithmChoice choice = with_one_bit(read, in, false, options.exact, options.exchange);
    options.rule = read_adam_rule(read, in, options.rule);
    read_intervals(read, options);
    if (const auto p = read.optional("mask")) options.mask = as_bool(*p);
    choice.run = [options](Worker& worker) { return zero_one_adam(worker, options); };
    choice.contribution = [options, wire = choice.wire, workers = in.workers](
                              const Layout& layout, std::int64_t k, double) {
        return zero_one_bytes(options, layout, wire, workers, k);
    };
    if (const auto as_one = as_fused(options.exchange)) {
        ZeroOneAdamOptions other = options;
        other.exchange = *as_one;
        choice.fused_step = [other](const StepModelInput& at, std::int64_t k) {
            return zero_one_step_time(other, k, at);
        };
    }
    choice.stage = [options](std::int64_t k, double) {
        return static_cast<double>(zero_one_stretch(options, k));
    };
    choice.period = options.local_step_clipper;
    choice.period_at = [options](std::int64_t k) { return zero_one_interval(options, k); };
    choice.model_step = [options](const StepModelInput& at, std::int64_t k, double) {
        return zero_one_step_time(options, k, at);
    };
    choice.messages = [options](const StepModelInput& at, std::int64_t k) {
        return zero_one_messages(options, k, at);
    };
    return choice;
}

AlgorithmChoice read_one_bit_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    OneBitSgdOptions options;
    AlgorithmChoice choice;
    options.rule = rule_of(in.optimizer);
    options.coding = read_coding(read);
    ExchangeOptions stripes = dense_exchange({});
    stripes.aggregation.kind = Aggregation::two_phase;
    options.all_to_all = read_exchange(read, in, stripes, choice).aggregation.all_to_all;
    choice.exchange.reset();
    choice.run = [options](Worker& worker) { return one_bit_sgd(worker, options); };
    choice.contribution = [](const Layout& layout, std::int64_t, double) {
        return stripe_bytes(layout, 0, 1);
    };
    choice.model_step = [options](const StepModelInput& at, std::int64_t, double) {
        return one_bit_sgd_step_time(options, at);
    };
    choice.messages = [](const StepModelInput& at, std::int64_t) {
        return std::int64_t{2} * at.workers * (at.workers - 1);
    };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto adaptive_algorithms = std::to_array<AlgorithmEntry>({
    {"adam",
     "Adam on the mean gradient (ICLR 2015)",
     "Kingma, Ba, ICLR 2015; decay: Loshchilov, Hutter, ICLR 2019; released code: PyTorch",
     Feature::adam,
     &read_adam,
     {.when_nodes_die = WhenNodesDie::reruns_replicas, .decays_by_itself = true}},
    {"lamb",
     "layer-wise Adam (You et al., ICLR 2020)",
     "You et al., ICLR 2020; released code: NVIDIA Apex, TensorFlow Addons, DeepSpeed",
     Feature::layerwise,
     &read_lamb,
     {.when_nodes_die = WhenNodesDie::reruns_replicas, .decays_by_itself = true}},
    {"one-bit-adam",
     "1-bit Adam: frozen variance, momentum by signs (2102.02888)",
     "Tang et al., arXiv 2102.02888, 2021; released code: DeepSpeed",
     Feature::momenta,
     &read_one_bit_adam,
     {.decays_by_itself = true}},
    {"one-bit-lamb",
     "1-bit LAMB: the same, layer-wise (2104.06069)",
     "Li et al., arXiv 2104.06069, 2021; released code: DeepSpeed",
     Feature::tensor_momenta,
     &read_one_bit_lamb,
     {.decays_by_itself = true}},
    {"zero-one-adam",
     "0/1 Adam: the same with local steps (2202.06009)",
     "Lu et al., arXiv 2202.06009, 2022; released code: DeepSpeed",
     Feature::local_momenta,
     &read_zero_one_adam,
     {.decays_by_itself = true}},
    {"one-bit-sgd",
     "1-bit SGD, two levels per column (Seide et al., 2014)",
     "Seide et al., Interspeech 2014; released code: CNTK",
     Feature::column_step,
     &read_one_bit_sgd,
     {.decays_by_itself = true, .supports_nesterov_and_clipping = true}},
});

}  // namespace

std::span<const AlgorithmEntry> adaptive_family() {
    return adaptive_algorithms;
}

}  // namespace paceline
