#include "app/scenario/algorithms/outer_steps.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/local/diloco.hpp"
#include "algorithms/local/noloco.hpp"
#include "algorithms/local/sparseloco.hpp"
#include "algorithms/local/sparta.hpp"
#include "algorithms/local/streaming_diloco.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/streaming_forms.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/blocks.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/neighbors.hpp"

namespace paceline {

namespace {

// Reads the rate and the momentum of an outer optimizer that has them. `momentum` is null if it has
// none.
void read_outer_rate(const ObjectReader& read, double* rate, double* momentum) {
    if (const auto p = read.optional("outer_learning_rate")) {
        if (rate == nullptr) p->refuse("is of an outer optimizer, and \"outer\" is \"none\"");
        *rate = as_number_above(*p, 0, 1e9);
    }
    if (const auto p = read.optional("outer_momentum")) {
        if (momentum == nullptr) p->refuse("is for the outer optimizers \"nesterov\" and \"sgd\"");
        *momentum = as_share(*p);
    }
}

OuterAdam read_outer_adam(const ObjectReader& read, const std::optional<Place>& place) {
    OuterAdam adam;
    (void)read.required("outer_learning_rate", "the rate of Adam, such as 0.1");
    if (!place->json->is_object()) return adam;
    const ObjectReader own(*place, definition_keys("outer-adam"));
    if (const auto p = own.optional("beta1")) adam.rule.beta1 = as_share(*p);
    if (const auto p = own.optional("beta2")) adam.rule.beta2 = as_share(*p);
    if (const auto p = own.optional("epsilon")) adam.rule.epsilon = as_number_above(*p, 0, 1);
    return adam;
}

// Reads the outer optimizer: a name, or an object of Adam's options.
OuterRule read_outer_rule(const ObjectReader& read, OuterRule rule) {
    const auto place = read.optional("outer");
    constexpr std::span names(outer_optimizers);
    if (place) {
        const bool is_object = !place->json->is_string();
        const std::string_view name =
            names[as_name(is_object ? kind_of(*place, "an outer optimizer", names) : *place,
                          "an outer optimizer", names)];
        if (is_object && name != "adam")
            place->refuse(fmt::format("\"{}\" has no options here; write its name", name));
        if (name == "none") rule = OuterAverage{};
        if (name == "sgd") rule = OuterSgd{};
        if (name == "nesterov") rule = OuterNesterov{};
        if (name == "adam") rule = read_outer_adam(read, place);
    }
    if (auto* const sgd = std::get_if<OuterSgd>(&rule))
        read_outer_rate(read, &sgd->rate, &sgd->momentum);
    else if (auto* const nesterov = std::get_if<OuterNesterov>(&rule))
        read_outer_rate(read, &nesterov->rate, &nesterov->momentum);
    else if (auto* const adam = std::get_if<OuterAdam>(&rule))
        read_outer_rate(read, &adam->rate, nullptr);
    else
        read_outer_rate(read, nullptr, nullptr);
    return rule;
}

// Reads the inner and the outer optimizer, the period and the exchange of outer gradients, over
// those of `options`.
AlgorithmChoice read_outer_steps(const ObjectReader& read, const AlgorithmInput& in,
                                 DilocoOptions& options) {
    options.inner = read_inner_rule(read, in);
    options.outer = read_outer_rule(read, options.outer);
    AlgorithmChoice choice;
    read_blocks(read, in, choice, options, options.exchange);
    choice.kept = kept_by_inner(options.inner, in) + 1 +  // the outer model
                  vectors_of(options.outer) + kept_by_codec(options.exchange.codec, in.workers);
    return choice;
}

AlgorithmChoice read_blocks_of_outer_steps(const ObjectReader& read, const AlgorithmInput& in,
                                           DilocoOptions options) {
    AlgorithmChoice choice = read_outer_steps(read, in, options);
    cost_blocks(choice, in, options.exchange, options.period);
    choice.run = [options](Worker& worker) { return diloco(worker, options); };
    return choice;
}

}  // namespace

AlgorithmChoice read_diloco(const ObjectReader& read, const AlgorithmInput& in) {
    return read_blocks_of_outer_steps(read, in, {});
}

AlgorithmChoice read_sparseloco(const ObjectReader& read, const AlgorithmInput& in) {
    return read_blocks_of_outer_steps(read, in, sparseloco());
}

AlgorithmChoice read_noloco(const ObjectReader& read, const AlgorithmInput& in) {
    constexpr int vectors = 2;
    NolocoOptions options;
    options.inner = read_inner_rule(read, in);
    read_outer_rate(read, &options.outer_learning_rate, &options.outer_momentum);
    options.pull = options.outer_learning_rate;
    if (const auto p = read.optional("pull")) options.pull = as_number_up_to(*p, 1e9);
    if (const auto p = read.optional("period"))
        options.period = as_integer(*p, 1, most_steps_of_an_option);
    AlgorithmChoice choice = neighborly(read, in, vectors, false);
    options.exchange = *choice.exchange;
    choice.period = options.period;
    at_ends_of_blocks(choice, options.period);
    choice.kept = kept_by_inner(options.inner, in) + vectors;  // the outer model and its momentum
    choice.run = [options](Worker& worker) { return noloco(worker, options); };
    return choice;
}

namespace {

void read_turns(const ObjectReader& read, StreamingDilocoOptions& options) {
    const std::int64_t period = options.diloco.period;
    options.fragments = std::min(options.fragments, period);
    if (const auto p = read.optional("fragments")) options.fragments = as_integer(*p, 1, period);
    const std::int64_t turn = period / options.fragments;
    options.delay = std::min(options.delay, turn - 1);
    if (const auto p = read.optional("delay")) {
        options.delay = as_integer(*p, 0, most_steps_of_an_option);
        if (options.delay >= turn)
            p->refuse(
                fmt::format("a fragment must have arrived before the next one leaves, {} "
                            "steps later (\"period\" by \"fragments\"): at most {}",
                            turn, turn - 1));
    }
    if (const auto p = read.optional("alpha")) options.alpha = as_number_up_to(*p, 1);
    constexpr auto due = std::to_array<Spelling<FragmentDue>>(
        {{"sent", FragmentDue::sent}, {"taken-in", FragmentDue::taken_in}});
    if (const auto p = read.optional("due"))
        options.due = as_choice(*p, "what happens to a fragment that is due", due);
}

}  // namespace

AlgorithmChoice read_streaming_diloco(const ObjectReader& read, const AlgorithmInput& in) {
    StreamingDilocoOptions options;
    AlgorithmChoice choice = read_outer_steps(read, in, options.diloco);
    read_turns(read, options);
    choice.contribution = [options, wire = choice.wire, workers = in.workers](
                              const Layout& layout, std::int64_t, double) {
        return streaming_contribution(options, layout, wire, workers);
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double) {
        return streaming_step_time(options, k, in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t k) {
        return streaming_messages(options, k, in);
    };
    choice.ends_in_flight = options.delay > 0;
    // In the first block nothing is under way yet from the block before.
    choice.stage = [options](std::int64_t k, double) {
        return k < options.diloco.period ? 0.0 : 1.0;
    };
    choice.run = [options](Worker& worker) { return streaming_diloco(worker, options); };
    return choice;
}

namespace {

// The entries that are averaged in a step, as a layout of their own.
Layout selection_of(const Layout& layout, double share) {
    return Layout({{"selection", {sparsified_entries(layout.entries(), share)}}});
}

StepModelInput selected_of(StepModelInput in, double share) {
    in.layout = std::make_shared<const Layout>(selection_of(*in.layout, share));
    in.timing.buckets = {{0, 1, in.timing.step}};
    return in;
}

}  // namespace

AlgorithmChoice read_sparta(const ObjectReader& read, const AlgorithmInput& in) {
    SpartaOptions options;
    options.inner = read_inner_rule(read, in);
    if (const auto p = read.optional("share")) options.share = as_number_above(*p, 0, 1);
    AlgorithmChoice choice;
    options.exchange = read_average(read, in, choice);
    choice.contribution = [options, wire = choice.wire, workers = in.workers](
                              const Layout& layout, std::int64_t, double) {
        return form_of_contribution(options.exchange, selection_of(layout, options.share), wire,
                                    workers);
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t, double) {
        return exchange_step_time(options.exchange, 0, selected_of(in, options.share));
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        return exchange_messages(options.exchange, selected_of(in, options.share));
    };
    choice.least_density = options.share;
    choice.kept =
        kept_by_inner(options.inner, in) + kept_by_codec(options.exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return sparta(worker, options); };
    return choice;
}

}  // namespace paceline
