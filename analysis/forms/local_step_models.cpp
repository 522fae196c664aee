#include "analysis/forms/local_step_models.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/local/inner_steps.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/gossip_step_models.hpp"

namespace paceline {

namespace {

std::optional<Duration> average_time(const ExchangeOptions& exchange, StepModelInput in) {
    in.timing.step = {};
    in.update = {};
    for (Bucket& bucket : in.timing.buckets) bucket.ready = {};
    return exchange_step_time(exchange, 0, in);
}

// Returns t plus the time of `vectors` averages.
std::optional<Duration> with_averages(std::optional<Duration> t, int vectors,
                                      const ExchangeOptions& exchange, const StepModelInput& in) {
    if (!t || vectors == 0) return t;
    const std::optional<Duration> average = average_time(exchange, in);
    if (!average) return std::nullopt;
    return sum(*t, multiple(vectors, *average));
}

StepModelInput with_one_more_number(StepModelInput in) {
    in.layout = std::make_shared<const Layout>(
        std::vector<Tensor>{{"x and w", {in.layout->entries() + 1}}});
    return in;
}

std::optional<Duration> base_step_time(const BaseOptions& options, const Mixing* mixing,
                                       std::int64_t step_of_block, const StepModelInput& in) {
    switch (options.base) {
        case Base::osgp:
            return osgp_step_time(*mixing, step_of_block, in);
        case Base::sgp:
        case Base::sgp_adam:
            return neighbor_step_time(*mixing, 1, false, with_one_more_number(in));
        case Base::dsgd:
            return neighbor_step_time(*mixing, 1, false, in);
        case Base::all_reduce:
            return dense_step_time(options.all_reduce, in);
        case Base::local:
        case Base::local_adam:
            break;
    }
    return lone_step_time(in);
}

}  // namespace

Duration lone_step_time(const StepModelInput& in) {
    return sum(in.timing.step, in.update);
}

std::optional<Duration> averaged_step_time(const ExchangeOptions& exchange,
                                           const StepModelInput& in, int vectors) {
    return with_averages(lone_step_time(in), vectors, exchange, in);
}

std::optional<Duration> slowmo_step_time(const SlowmoOptions& options, const Mixing* mixing,
                                         std::int64_t k, const StepModelInput& in) {
    return with_averages(base_step_time(options.base, mixing, k % options.period, in),
                         ends_block(k, options.period) ? averaged_vectors(options) : 0,
                         options.exchange, in);
}

std::optional<Duration> overlapped_average_step_time(const ExchangeOptions& exchange,
                                                     std::int64_t period, std::int64_t k,
                                                     const StepModelInput& in) {
    const Duration lone = lone_step_time(in);
    if (!ends_block(k, period)) return lone;
    const std::optional<Duration> average = average_time(exchange, in);
    if (!average) return std::nullopt;
    const Duration hidden = multiple(period, lone);
    return sum(lone, std::max(Duration::zero(), *average - hidden));
}

Bytes share_of_steps(Bytes size, std::int64_t steps) {
    return {size.count / steps + (size.count % steps > 0 ? 1 : 0)};
}

int averaged_vectors(const SlowmoOptions& options) {
    return (options.average ? 1 : 0) +
           (options.buffers == Buffers::average ? vectors_of(inner_of(options.base)) : 0);
}

}  // namespace paceline
