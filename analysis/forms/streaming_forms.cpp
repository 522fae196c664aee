#include "analysis/forms/streaming_forms.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/local_step_models.hpp"
#include "analysis/forms/transport_forms.hpp"
#include "models/tensors/fragments.hpp"

namespace paceline {

namespace {

struct FragmentTimes {
    Duration before{};
    Duration wires{};
    Duration behind{};
};

Layout fragment_of(const StreamingDilocoOptions& options, const Layout& charged, std::size_t p) {
    const TensorRun run = fragments(charged, static_cast<std::size_t>(options.fragments))[p];
    return entries_between(charged, charged.offset(run.first),
                           charged.offset(run.first + run.count));
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
    const Layout charged = *with_left_out(in.layout, options.diloco.exchange.codec.leave_out);
    const Layout fragment = fragment_of(options, charged, p);
    if (fragment.entries() == 0) return FragmentTimes{};
    const auto form = piece_form(options.diloco.exchange, fragment, 0, in);
    if (!form) return std::nullopt;
    const bool is_plain =
        is_on(true, form->encode) && is_on(false, form->travel) && is_on(true, form->decode);
    if (options.delay > 0 && !is_plain) return std::nullopt;
    return FragmentTimes{time_of(form->encode), time_of(form->travel), time_of(form->decode)};
}

// Returns the time that an exchange adds to step j = 1, ..., tau behind the one after which it was due.
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
    const std::int64_t first = options.delay == 0 ? k : k - options.delay;
    for (std::int64_t sent = std::max<std::int64_t>(first, 0);
         sent <= k && (options.delay == 0 || sent < k); ++sent) {
        const auto turn = turn_after(options, sent);
        if (!turn) continue;
        const auto times = times_of(options, turn->fragment, in);
        if (!times) return std::nullopt;
        if (options.delay == 0)
            return sum(lone, sum(times->before, sum(times->wires, times->behind)));
        if (lone == Duration::zero()) return std::nullopt;
        return sum(lone, added(*times, k - sent, options.delay, lone));
    }
    return lone;
}

std::int64_t streaming_messages(const StreamingDilocoOptions& options, std::int64_t k,
                                const StepModelInput& in) {
    const auto turn = turn_after(options, k);
    if (!turn) return 0;
    StepModelInput of_fragment = in;
    of_fragment.layout = std::make_shared<const Layout>(
        fragment_of(options, *with_left_out(in.layout, options.diloco.exchange.codec.leave_out),
                    turn->fragment));
    if (of_fragment.layout->entries() == 0) return 0;
    return exchange_messages(options.diloco.exchange, of_fragment);
}

Bytes streaming_contribution(const StreamingDilocoOptions& options, const Layout& layout,
                             WireFormat wire, int workers) {
    Bytes all{};
    const auto count = static_cast<std::size_t>(options.fragments);
    for (std::size_t p = 0; p < count; ++p) {
        const Layout fragment = fragment_of(options, layout, p);
        if (fragment.entries() > 0)
            all += form_of_contribution(options.diloco.exchange, fragment, wire, workers);
    }
    const std::int64_t steps = options.diloco.period;
    return {all.count / steps + (all.count % steps > 0 ? 1 : 0)};
}

}  // namespace paceline
