#include "analysis/forms/streaming_forms.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "analysis/forms/aggregation_forms.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/local_step_models.hpp"
#include "models/tensors/fragments.hpp"

namespace paceline {

namespace {

struct FragmentTimes {
    Duration before{};
    Duration wires{};
    Duration behind{};
};

// Returns the fragments. The tensors that are left out are known from the whole layout, once.
std::vector<Layout> fragments_of_form(const StreamingDilocoOptions& options,
                                      const LayoutPtr& layout) {
    const Layout charged = *with_left_out(layout, options.diloco.exchange.codec.leave_out);
    std::vector<Layout> parts;
    for (const TensorRun& run : fragments(charged, static_cast<std::size_t>(options.fragments)))
        parts.push_back(
            *part_of(charged, charged.offset(run.first), charged.offset(run.first + run.count)));
    return parts;
}

// The exchange of a fragment, in which those tensors are marked already.
ExchangeOptions exchange_of_fragment(const StreamingDilocoOptions& options) {
    ExchangeOptions exchange = options.diloco.exchange;
    exchange.codec.leave_out.clear();
    return exchange;
}

Duration time_of(const std::vector<PieceStage>& stages) {
    Duration all{};
    for (const PieceStage& stage : stages) all = sum(all, stage.time);
    return all;
}

bool is_on(bool device, const std::vector<PieceStage>& stages) {
    return std::ranges::all_of(stages, [=](const PieceStage& stage) {
        return stage.on_device == device || stage.time == Duration::zero();
    });
}

// Returns nothing if the fragment has no form, or codes between its messages.
std::optional<FragmentTimes> times_of(const StreamingDilocoOptions& options, std::size_t p,
                                      const StepModelInput& in) {
    const Layout fragment = fragments_of_form(options, in.layout)[p];
    if (fragment.entries() == 0) return FragmentTimes{};
    const auto form = piece_form(options.diloco.exchange, fragment, 0, in);
    if (!form) return std::nullopt;
    const bool is_plain =
        is_on(true, form->encode) && is_on(false, form->travel) && is_on(true, form->decode);
    if (options.delay > 0 && !is_plain) return std::nullopt;
    return FragmentTimes{time_of(form->encode), time_of(form->travel), time_of(form->decode)};
}

// Returns the time that an exchange adds to step j = 1, ..., tau behind the one after which it was
// due.
Duration added(const FragmentTimes& times, std::int64_t j, std::int64_t delay, Duration lone) {
    const std::int64_t arrives = std::min(times.wires / lone, delay - 1) + 1;
    Duration more{};
    if (j == 1) more = sum(more, times.before);
    if (j == arrives) more = sum(more, times.behind);
    if (j == delay)
        more = sum(more, std::max(Duration::zero(), times.wires - multiple(delay, lone)));
    return more;
}

}  // namespace

std::optional<Duration> streaming_step_time(const StreamingDilocoOptions& options, std::int64_t k,
                                            const StepModelInput& in) {
    const Duration lone = lone_step_time(in);
    const std::int64_t nearest = options.delay == 0 ? k : k - 1;  // step after which it was due
    const std::int64_t farthest = std::max<std::int64_t>(k - options.delay, 0);
    for (std::int64_t due = farthest; due <= nearest; ++due) {
        const auto turn = turn_after(options, due);
        if (!turn) continue;
        const auto times = times_of(options, turn->fragment, in);
        if (!times) return std::nullopt;
        if (options.delay == 0)
            return sum(lone, sum(times->before, sum(times->wires, times->behind)));
        if (lone == Duration::zero()) return std::nullopt;
        return sum(lone, added(*times, k - due, options.delay, lone));
    }
    return lone;
}

std::int64_t streaming_messages(const StreamingDilocoOptions& options, std::int64_t k,
                                const StepModelInput& in) {
    const auto turn = turn_after(options, k);
    if (!turn) return 0;
    StepModelInput of_fragment = in;
    of_fragment.layout =
        std::make_shared<const Layout>(fragments_of_form(options, in.layout)[turn->fragment]);
    if (of_fragment.layout->entries() == 0) return 0;
    return exchange_messages(exchange_of_fragment(options), of_fragment);
}

Bytes streaming_contribution(const StreamingDilocoOptions& options, const Layout& layout,
                             WireFormat wire, int workers) {
    Bytes all{};
    for (const Layout& fragment :
         fragments_of_form(options, std::make_shared<const Layout>(layout)))
        if (fragment.entries() > 0)
            all += form_of_contribution(exchange_of_fragment(options), fragment, wire, workers);
    return share_of_steps(all, options.diloco.period);
}

}  // namespace paceline
