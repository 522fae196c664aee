#include "app/scenario/algorithms/adam_steps.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/local/diloco.hpp"
#include "algorithms/local/local_adam.hpp"
#include "algorithms/local/sparta.hpp"
#include "algorithms/local/streaming_diloco.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/streaming_forms.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/blocks.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/algorithms/common.hpp"

namespace paceline {

namespace {

MuonRule read_muon(const ObjectReader& read, MuonRule rule) {
    constexpr auto forms =
        std::to_array<Spelling<MuonForm>>({{"muon", MuonForm::muon}, {"dion", MuonForm::dion}});
    if (const auto p = read.optional("form")) rule.form = as_choice(*p, "a form of Muon", forms);
    rule.nesterov = rule.form == MuonForm::muon;
    if (const auto p = read.optional("momentum")) rule.momentum = as_share(*p);
    if (const auto p = read.optional("nesterov")) rule.nesterov = as_bool(*p);
    if (const auto p = read.optional("adam_rate")) rule.adam_rate = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("leave_out")) rule.leave_out = read_choices(*p);
    return rule;
}

// Reads the inner optimizer: a name, or an object of Muon's options.
InnerRule read_inner_rule(const ObjectReader& read, const AlgorithmInput& in) {
    const auto place = read.optional("inner");
    constexpr auto names = std::to_array<std::string_view>({"adamw", "lamb", "muon"});
    const bool is_object = place && !place->json->is_string();
    const std::size_t which =
        !place ? 0
               : as_name(is_object ? kind_of(*place, "an inner optimizer", names) : *place,
                         "an inner optimizer", names);
    if (is_object && names[which] != "muon")
        place->refuse(fmt::format("\"{}\" has no options here; write its name", names[which]));
    LambRule lamb;
    if (names[which] == "lamb") {
        lamb.adam = read_adam_rule(read, in, lamb.adam);
        return lamb;
    }
    const AdamRule adam = read_adam_rule(read, in, {});
    if (names[which] == "adamw") return adam;
    MuonRule muon;
    muon.adam = adam;
    if (!is_object) return muon;
    return read_muon(ObjectReader(*place, definition_keys("inner-muon")), std::move(muon));
}

// Reads the inner and the outer optimizer, the period and the exchange of outer gradients.
AlgorithmChoice read_outer_steps(const ObjectReader& read, const AlgorithmInput& in,
                                 DilocoOptions& options) {
    options.inner = read_inner_rule(read, in);
    if (const auto p = read.optional("outer_learning_rate"))
        options.outer_learning_rate = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("outer_momentum")) options.outer_momentum = as_share(*p);
    AlgorithmChoice choice;
    read_blocks(read, in, choice, options);
    choice.kept = vectors_of_adam + 2 +  // the outer model and its momentum
                  kept_by_codec(options.exchange.codec, in.workers);
    return choice;
}

}  // namespace

AlgorithmChoice read_diloco(const ObjectReader& read, const AlgorithmInput& in) {
    DilocoOptions options;
    AlgorithmChoice choice = read_outer_steps(read, in, options);
    cost_blocks(choice, in, options.exchange, options.period);
    choice.run = [options](Worker& worker) { return diloco(worker, options); };
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

AlgorithmChoice read_local_adam(const ObjectReader& read, const AlgorithmInput& in) {
    LocalAdamOptions options;
    options.rule = read_adam_rule(read, in, options.rule);
    if (const auto p = read.optional("buffers"))
        options.buffers = as_choice(*p, "what happens to buffers", buffer_strategies);
    AlgorithmChoice choice;
    read_blocks(read, in, choice, options);
    cost_blocks(choice, in, options.exchange, options.period, averaged_vectors(options));
    choice.kept = vectors_of_adam + kept_by_codec(options.exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return local_adam(worker, options); };
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
    options.rule = read_adam_rule(read, in, options.rule);
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
    choice.kept = vectors_of_adam + kept_by_codec(options.exchange.codec, in.workers);
    choice.run = [options](Worker& worker) { return sparta(worker, options); };
    return choice;
}

}  // namespace paceline
