#include "analysis/forms/neighbor_forms.hpp"

#include <algorithm>
#include <variant>

namespace paceline {

namespace {

bool travels_as_it_is(const ExchangeOptions& options) {
    const auto* const compressor = std::get_if<Compressor>(&options.codec.coder);
    return compressor != nullptr && compressor->lossless;
}

// From the devices of a machine to the first, or back.
Duration inside_time(int g, Bytes size, const IdleStar& bus) {
    const Bytes others{size.count - size.count / g};
    return sum(ring_reduce_scatter_time(g, size, bus), sum(bus.latency, others / bus.bandwidth));
}

}  // namespace

std::optional<Duration> neighbor_exchange_step_time(const ExchangeOptions& options,
                                                    const Mixing& mixing, int vectors, bool beside,
                                                    const StepModelInput& in) {
    if (!options.schedule.whole || !travels_as_it_is(options)) return std::nullopt;
    if (options.transport.machines == ByMachine::flat)
        return neighbor_step_time(mixing, vectors, beside, in);
    if (!in.network.bus || vectors != 1) return std::nullopt;
    const IdleStar& bus = *in.network.bus;
    StepModelInput machines = in;
    machines.workers = in.workers / in.network.devices;
    machines.network = {in.network.star, std::nullopt, 1};
    machines.network.star.bandwidth = std::min(in.network.star.bandwidth, bus.bandwidth);
    machines.timing.step = {};
    machines.update = {};
    const std::optional<Duration> between = neighbor_step_time(mixing, 1, false, machines);
    if (!between) return std::nullopt;
    const Bytes dense = fp32.weigh(in.layout->entries());
    const Duration average =
        sum(*between, multiple(2, inside_time(in.network.devices, dense, bus)));
    const Duration step =
        beside ? std::max(in.timing.step, average) : sum(in.timing.step, average);
    return sum(step, in.update);
}

std::int64_t neighbor_exchange_messages(const ExchangeOptions& options, std::int64_t edges,
                                        int vectors, const StepModelInput& in) {
    const auto pieces = options.schedule.whole
                            ? std::int64_t{1}
                            : static_cast<std::int64_t>(in.timing.buckets.size());
    std::int64_t messages = edges;
    if (options.transport.machines != ByMachine::flat) {
        const std::int64_t g = options.transport.devices;
        messages += in.workers / g * 2 * (g * (g - 1) + g - 1);
    }
    return vectors * pieces * messages;
}

}  // namespace paceline
