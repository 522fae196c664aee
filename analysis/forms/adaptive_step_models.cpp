#include "analysis/forms/adaptive_step_models.hpp"

#include <algorithm>
#include <variant>

#include "algorithms/exchange/one_bit_all_reduce.hpp"
#include "analysis/forms/compressed_step_models.hpp"
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

OneBitBuffers cut(bool fused, const StepModelInput& in) {
    return fused ? fused_buffer(in.layout, in.workers) : buffer_per_tensor(in.layout, in.workers);
}

Known after_gradient(const StepModelInput& in, Known exchange) {
    if (!exchange) return std::nullopt;
    return sum(sum(in.timing.step, in.update), *exchange);
}

Known buffer_time(const OneBitBuffer& buffer, int n, const CodingCost& coding,
                  const IdleNetwork& network) {
    const Bytes signs{buffer.padded / n / 8};
    const Known there = all_to_all_time(n, signs, network);
    const Known back = all_gather_time(AllGather::ring, n, signs, network);
    const Known scales = all_gather_time(AllGather::ring, n, Bytes{4}, network);
    if (!there || !back || !scales) return std::nullopt;
    return sum(sum(sum(*there, *back), multiple(2, *scales)),
               coding_time(coding, 1, one_bit_passes(buffer, n)));
}

}  // namespace

std::optional<Duration> one_bit_all_reduce_time(const OneBitBuffers& cut, const CodingCost& coding,
                                                const IdleNetwork& network) {
    Duration time{};
    for (const OneBitBuffer& buffer : cut.buffers) {
        const Known one = buffer_time(buffer, cut.workers, coding, network);
        if (!one) return std::nullopt;
        time = sum(time, *one);
    }
    return time;
}

std::optional<Duration> one_bit_step_time(bool fused, const CodingCost& coding,
                                          const StepModelInput& in) {
    return after_gradient(in, one_bit_all_reduce_time(cut(fused, in), coding, in.network));
}

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
    const Duration messages = sum(all_to_all_time(in.workers, longest, *star),
                                  ring_all_gather_time(in.workers, longest, *star));
    return after_gradient(in, sum(messages, coding));
}

std::int64_t one_bit_messages(bool fused, const StepModelInput& in) {
    const std::int64_t n = in.workers;
    const auto buffers =
        fused ? std::int64_t{1} : static_cast<std::int64_t>(in.layout->tensors().size());
    return 4 * n * (n - 1) * buffers;
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
