#include "analysis/forms/compressed_step_models.hpp"

#include <memory>
#include <variant>
#include <vector>

#include "algorithms/compression/error_feedback.hpp"
#include "algorithms/exchange/low_rank_coder.hpp"

namespace paceline {

namespace {

using Known = std::optional<Duration>;  // empty if no closed form is known

Known plus(Known a, Known b) {
    if (!a || !b) return std::nullopt;
    return sum(*a, *b);
}

// Returns the time of gradient, update and coding.
Duration work_of(const StepModelInput& in, Duration coding) {
    return sum(sum(in.timing.step, in.update), coding);
}

}  // namespace

Bytes form_of_packed(const Compressor& compressor, const Layout& layout) {
    std::int64_t bits = 0;
    for (const Tensor& tensor : layout.tensors())
        bits += tensor.left_out ? 32 * tensor.entries() : compressor.bits(tensor);
    return {bits / 8 + (bits % 8 == 0 ? 0 : 1)};
}

std::optional<Duration> all_gather_time(AllGather how, int n, Bytes block,
                                        const IdleNetwork& network) {
    if (network.staging) {
        IdleNetwork on_hosts = network;
        on_hosts.staging.reset();
        const auto messages = all_gather_time(how, n, block, on_hosts);
        if (!messages) return std::nullopt;
        return sum(staging_time(n, block, n * block, network), *messages);
    }
    const bool spans_machines = network.bus && n > network.devices;
    if (spans_machines) {
        if (how != AllGather::ring) return std::nullopt;
        return ring_all_gather_over_machines_time(n, block, *network.bus, network.star);
    }
    const IdleStar& star = network.bus ? *network.bus : network.star;
    if (how == AllGather::ring) return ring_all_gather_time(n, block, star);
    return bruck_all_gather_time(n, block, star);
}

std::optional<Duration> compressed_step_time(const ExchangeOptions& options, std::int64_t passes,
                                             const StepModelInput& in) {
    const auto& compressor = std::get<Compressor>(options.codec.coder);
    const CodingCost& cost = options.codec.coding;
    const Bytes size = form_of_packed(compressor, *in.layout);
    const bool summable = compressor.combining == Combining::summable;
    if (options.codec.error_feedback) passes += error_feedback_passes;
    const Duration coding =
        sum(encoding_time(compressor, cost, *in.layout, passes),
            decoding_time(compressor, cost, *in.layout, summable ? 1 : in.workers));
    const AggregationPlan& aggregation = options.aggregation;
    return plus(work_of(in, coding),
                summable ? all_reduce_time(aggregation.all_reduce, in.workers, size, in.network)
                         : all_gather_time(aggregation.all_gather, in.workers, size, in.network));
}

std::optional<Duration> low_rank_step_time(const ExchangeOptions& options,
                                           const StepModelInput& in) {
    const LowRankBytes size =
        low_rank_bytes(std::get<LowRankCodec>(options.codec.coder), *in.layout);
    const Duration coding =
        coding_time(options.codec.coding, low_rank_passes, in.layout->entries());
    const AllReducePlan plan = options.aggregation.all_reduce;
    return plus(work_of(in, coding),
                plus(all_reduce_time(plan, in.workers, size.left, in.network),
                     all_reduce_time(plan, in.workers, size.right, in.network)));
}

std::optional<Duration> choco_sgd_step_time(const ChocoSgdOptions& options, const Mixing& mixing,
                                            std::int64_t step, const StepModelInput& in) {
    const auto degree = static_cast<std::int64_t>(mixing.listeners(0).size());
    const Duration coding = choco_coding_time(options, *in.layout, degree);
    // The exchange is modeled as a vector with one entry of one byte per byte of the message.
    StepModelInput exchange = in;
    exchange.layout = std::make_shared<const Layout>(
        std::vector<Tensor>{{"message", {form_of_packed(options.compressor, *in.layout).count}}});
    exchange.wire = {1};
    const Known beside = neighbor_step_time(mixing, 1, true, exchange);
    if (!beside) return std::nullopt;
    return step == 0 ? work_of(in, coding) : sum(*beside, coding);
}

}  // namespace paceline
