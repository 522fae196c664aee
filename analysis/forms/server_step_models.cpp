#include "analysis/forms/server_step_models.hpp"

#include <algorithm>

#include "analysis/forms/compressed_step_models.hpp"

namespace paceline {

namespace {

// Returns T + 2L, plus the time of `models` models over one link.
Duration and_models(std::int64_t models, const StepModelInput& in) {
    const IdleStar& star = in.network.star;
    const Bytes size = in.wire.weigh(in.layout->entries());
    const Duration latencies = multiple(2, star.latency);
    return sum(sum(sum(in.timing.step, in.update), latencies),
               multiple(models, size / star.bandwidth));
}

}  // namespace

std::optional<Duration> async_sgd_step_time(const StepModelInput& in, std::int64_t k) {
    if (in.network.bus || in.network.star.card) return std::nullopt;
    const std::int64_t n = in.workers;
    if (k == 0) return and_models(2 * n, in);
    const Bytes size = in.wire.weigh(in.layout->entries());
    return std::max(and_models(2, in), multiple(n, size / in.network.star.bandwidth));
}

std::optional<Duration> stale_synchronous_sgd_step_time(const StaleSynchronousSgdOptions& options,
                                                        const StepModelInput& in, std::int64_t k) {
    if (options.bound > 0 || k == 0) return async_sgd_step_time(in, k);
    if (in.network.bus || in.network.star.card) return std::nullopt;
    return and_models(in.workers + 1, in);
}

std::optional<Duration> client_round_step_time(const RoundOptions& options, int vectors,
                                               const StepModelInput& in, std::int64_t k) {
    if (in.network.bus || in.network.star.card) return std::nullopt;
    if (options.over_selection > 1 || options.deadline) return std::nullopt;
    if (k % options.local_steps != 0) return sum(in.timing.step, in.update);
    const std::int64_t clients = clients_of_a_round(options.fraction, in.workers);
    if (!options.compressor) return and_models(2 * clients * vectors, in);
    const Bytes message = form_of_packed(*options.compressor, *in.layout);
    const Duration coding = encoding_time(options, *in.layout);
    return sum(sum(and_models(clients * vectors, in), coding),
               multiple(clients, message / in.network.star.bandwidth));
}

}  // namespace paceline
