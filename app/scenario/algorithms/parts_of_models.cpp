#include "app/scenario/algorithms/parts_of_models.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/local/sparta.hpp"
#include "algorithms/local/streaming_diloco.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/streaming_forms.hpp"
#include "app/scenario/algorithms/blocks.hpp"
#include "app/scenario/algorithms/codecs.hpp"

namespace paceline {

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
                fmt::format("a fragment must have arrived before the next one leaves, {} steps "
                            "later (\"period\" divided by \"fragments\"): at most {}",
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
