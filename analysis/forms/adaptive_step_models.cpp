#include "analysis/forms/adaptive_step_models.hpp"

#include <algorithm>

#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/message_counts.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Known = std::optional<Duration>;

std::optional<IdleStar> one_star(int workers, const IdleNetwork& network) {
    if (!network.bus) return network.star;
    if (workers > network.devices) return std::nullopt;
    return network.bus;
}

Known after_gradient(const StepModelInput& in, Known exchange) {
    if (!exchange) return std::nullopt;
    return sum(sum(in.timing.step, in.update), *exchange);
}

}  // namespace

std::optional<Duration> zero_one_step_time(const ZeroOneAdamOptions& options, std::int64_t k,
                                           const StepModelInput& in) {
    switch (zero_one_step(options, k)) {
        case ZeroOneStep::exact:
            return dense_step_time(options.exact.aggregation.all_reduce, in);
        case ZeroOneStep::local:
            return sum(in.timing.step, in.update);
        case ZeroOneStep::compressed_gradient:
        case ZeroOneStep::compressed_update:
            return exchange_step_time(options.exchange, 0, in);
    }
    PACELINE_CHECK(false, "every kind of step has its time");
}

std::optional<Duration> one_bit_sgd_step_time(const OneBitSgdOptions& options,
                                              const StepModelInput& in) {
    const std::optional<IdleStar> star = one_star(in.workers, in.network);
    if (!star) return std::nullopt;
    Bytes longest;
    for (int owner = 0; owner < in.workers; ++owner)
        longest = std::max(longest, stripe_bytes(*in.layout, owner, in.workers));
    const Duration coding =
        coding_time(options.coding, 1, one_bit_sgd_passes(*in.layout, in.workers));
    const Duration messages = sum(all_to_all_time(options.all_to_all, in.workers, longest, *star),
                                  ring_all_gather_time(in.workers, longest, *star));
    return after_gradient(in, sum(messages, coding));
}

std::int64_t zero_one_messages(const ZeroOneAdamOptions& options, std::int64_t k,
                               const StepModelInput& in) {
    switch (zero_one_step(options, k)) {
        case ZeroOneStep::exact:
            return all_reduce_messages(options.exact.aggregation.all_reduce, in.workers,
                                       in.wire.weigh(in.layout->entries()));
        case ZeroOneStep::local:
            return 0;
        case ZeroOneStep::compressed_gradient:
        case ZeroOneStep::compressed_update:
            return exchange_messages(options.exchange, in);
    }
    PACELINE_CHECK(false, "every kind of step has its messages");
}

}  // namespace paceline
