#include "analysis/forms/exchange_forms.hpp"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "algorithms/coders/low_rank_coder.hpp"
#include "algorithms/coders/one_bit_all_reduce.hpp"
#include "analysis/forms/aggregation_forms.hpp"
#include "analysis/forms/message_counts.hpp"
#include "analysis/forms/schedule_forms.hpp"
#include "analysis/forms/sparse_forms.hpp"

namespace paceline {

namespace {

struct PieceOfForm {
    std::size_t bucket;
    LayoutPtr charged;
};

std::vector<PieceOfForm> pieces_of_form(const ExchangeOptions& options, const StepModelInput& in) {
    const ExchangeSchedule& schedule = options.schedule;
    const LayoutPtr charged = with_left_out(in.layout, options.codec.leave_out);
    const std::vector<Bucket>& buckets = in.timing.buckets;
    std::vector<PieceOfForm> pieces;
    if (schedule.whole && !schedule.partition) {
        pieces.push_back({buckets.size() - 1, charged});
        return pieces;
    }
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const std::int64_t begin = charged->offset(buckets[b].first);
        const std::int64_t entries = charged->offset(buckets[b].first + buckets[b].count) - begin;
        std::int64_t parts = 1;
        if (schedule.partition) {
            const std::int64_t most =
                std::max<std::int64_t>(1, schedule.partition->count / in.wire.weigh(1).count);
            parts = std::max<std::int64_t>(1, entries / most + (entries % most > 0 ? 1 : 0));
        }
        for (std::int64_t i = 0; i < parts; ++i)
            pieces.push_back({b, part_of(*charged, begin + entries * i / parts,
                                         begin + entries * (i + 1) / parts)});
    }
    return pieces;
}

std::int64_t server_messages(const AggregationPlan& aggregation, std::int64_t n) {
    return 2 * std::min<std::int64_t>(aggregation.servers, n) *
           (aggregation.first_server_node ? n : n - 1);
}

std::int64_t low_rank_messages(const ExchangeOptions& options, const LowRankCodec& codec,
                               const Layout& layout, int n) {
    if (options.aggregation.kind == Aggregation::servers)
        return 2 * server_messages(options.aggregation, n);
    const LowRankBytes size = low_rank_bytes(codec, layout);
    const AllReducePlan& plan = options.aggregation.all_reduce;
    return all_reduce_messages(plan, n, size.left) + all_reduce_messages(plan, n, size.right);
}

std::int64_t compressed_messages(const ExchangeOptions& options, const Compressor& compressor,
                                 const Layout& layout, int n, WireFormat wire) {
    const AggregationPlan& aggregation = options.aggregation;
    const std::int64_t scalers =
        compressor.scaler ? all_reduce_messages(AllReduce::recursive_doubling, n, Bytes{4}) : 0;
    switch (aggregation.kind) {
        case Aggregation::all_reduce:
            return scalers + all_reduce_messages(aggregation.all_reduce, n,
                                                 form_of_packed(compressor, layout, wire));
        case Aggregation::two_phase:
            return scalers + 2 * std::int64_t{n} * (n - 1);
        case Aggregation::servers:
            return scalers + server_messages(aggregation, n);
        case Aggregation::all_gather:
        case Aggregation::sparse_all_reduce:
            break;
    }
    return scalers + all_gather_messages(aggregation.all_gather, n);
}

std::int64_t flat_messages(const ExchangeOptions& options, const Layout& layout, int n,
                           WireFormat wire, double density) {
    const auto& coder = options.codec.coder;
    if (const auto* const compressor = std::get_if<Compressor>(&coder))
        return compressed_messages(options, *compressor, layout, n, wire);
    if (const auto* const low_rank = std::get_if<LowRankCodec>(&coder))
        return low_rank_messages(options, *low_rank, layout, n);
    if (const auto* const one_bit = std::get_if<OneBitCodec>(&coder)) {
        const auto buffers =
            static_cast<std::int64_t>(form_of_buffers(*one_bit, layout, n).buffers.size());
        const Bytes left_out = form_of_left_out(layout);
        return 4 * std::int64_t{n} * (n - 1) * buffers +
               (left_out > Bytes{}
                    ? all_reduce_messages(options.aggregation.all_reduce, n, left_out)
                    : 0);
    }
    if (options.aggregation.kind == Aggregation::servers)
        return server_messages(options.aggregation, n);
    return sparse_exchange_messages(std::get<DgcOptions>(coder), options.aggregation, layout,
                                    density, n);
}

// Returns the messages of an exchange by the levels from this one on, among those who take part.
std::int64_t messages_by_levels(const ExchangeOptions& options, std::size_t from,
                                const Layout& layout, WireFormat wire, double density) {
    const ExchangeLevel& level = (*options.aggregation.levels)[from];
    const auto above = [&](const Layout& part) {
        return from + 1 < options.aggregation.levels->size()
                   ? messages_by_levels(options, from + 1, part, wire, density)
                   : flat_messages(options, part, level.groups(), wire, density);
    };
    std::int64_t messages = 0;
    const bool by_leaders = level.by == ByMachine::leaders;
    for (const std::int64_t m : level.members)
        messages += 2 * (m * (m - 1) + (by_leaders ? m - 1 : 0));
    if (by_leaders) return messages + above(layout);
    const int shards = level.members.front();
    for (int i = 0; i < shards; ++i) messages += above(form_of_chunk(layout, shards, i));
    return messages;
}

std::int64_t piece_messages(const ExchangeOptions& options, const Layout& layout,
                            const StepModelInput& in, double density) {
    const AggregationPlan& aggregation = options.aggregation;
    if (aggregation.machines == ByMachine::flat)
        return flat_messages(options, layout, in.workers, in.wire, density);
    if (aggregation.levels) return messages_by_levels(options, 0, layout, in.wire, density);
    const std::int64_t g = aggregation.devices;
    const int p = in.workers / aggregation.devices;
    if (aggregation.machines == ByMachine::leaders) {
        const std::int64_t inside =
            aggregation.encoded_inside ? 2 * (g - 1) + g * (g - 1) : 2 * (g * (g - 1) + g - 1);
        return p * inside + flat_messages(options, layout, p, in.wire, density);
    }
    std::int64_t messages = 2 * std::int64_t{p} * g * (g - 1);
    for (int i = 0; i < aggregation.devices; ++i)
        messages += flat_messages(options, form_of_chunk(layout, aggregation.devices, i), p,
                                  in.wire, density);
    return messages;
}

IdleStar shared_among(IdleStar star, int streams) {
    const auto share = [streams](Bandwidth rate) {
        return Bandwidth{std::max<std::int64_t>(1, rate.bits_per_second / streams)};
    };
    if (star.card) {
        star.card = share(*star.card);
        return capped(star, *star.card);
    }
    star.bandwidth = share(star.bandwidth);
    return star;
}

// Returns the input of one of `streams` equal streams.
StepModelInput of_one_stream(StepModelInput in, int streams) {
    in.network.star = shared_among(in.network.star, streams);
    if (in.network.bus) in.network.bus = shared_among(*in.network.bus, streams);
    return in;
}

bool takes_no_device(const std::vector<PieceStage>& stages) {
    return std::ranges::all_of(stages, [](const PieceStage& stage) {
        return !stage.on_device || stage.time == Duration::zero();
    });
}

bool are_alike(const PieceOfForm& one, const PieceOfForm& other) {
    return std::ranges::equal(one.charged->tensors(), other.charged->tensors(), {}, &Tensor::shape,
                              &Tensor::shape);
}

// Streams whose pieces are alike do the same at the same time, each with its share of the wires.
std::optional<Duration> streams_step_time(const ExchangeOptions& options, std::int64_t passes,
                                          const StepModelInput& in, double density,
                                          const std::vector<PieceOfForm>& pieces) {
    const auto streams =
        std::min(static_cast<std::size_t>(options.schedule.streams), pieces.size());
    const bool alike = std::ranges::all_of(
        pieces, [&](const PieceOfForm& piece) { return are_alike(piece, pieces.front()); });
    if (!waits_for_backward(options.schedule.begin) || pieces.size() % streams != 0 || !alike ||
        in.network.staging || in.network.sums)
        return std::nullopt;
    const StepModelInput one = of_one_stream(in, static_cast<int>(streams));
    const auto form = piece_form(options, *pieces.front().charged, passes, one, density);
    if (!form || !takes_no_device(form->encode) || !takes_no_device(form->travel) ||
        !takes_no_device(form->decode))
        return std::nullopt;
    const auto rounds = static_cast<std::int64_t>(pieces.size() / streams);
    return sum(sum(in.timing.step, multiple(rounds, total_time(*form))), in.update);
}

}  // namespace

Bytes form_of_contribution(const ExchangeOptions& options, const Layout& layout, WireFormat wire,
                           int workers, double density) {
    const auto& leave_out = options.codec.leave_out;
    const LayoutPtr changed =
        leave_out.empty() ? nullptr
                          : with_left_out(std::make_shared<const Layout>(layout), leave_out);
    const Layout& charged = changed ? *changed : layout;
    const auto& coder = options.codec.coder;
    if (const auto* const compressor = std::get_if<Compressor>(&coder))
        return form_of_packed(*compressor, charged, wire);
    if (const auto* const low_rank = std::get_if<LowRankCodec>(&coder)) {
        const LowRankBytes size = low_rank_bytes(*low_rank, charged);
        return size.left + size.right;
    }
    if (const auto* const one_bit = std::get_if<OneBitCodec>(&coder))
        return one_bit_bytes(form_of_buffers(*one_bit, charged, workers)) +
               form_of_left_out(charged);
    return form_of_message(charged, density, std::get<DgcOptions>(coder).format);
}

std::optional<Duration> exchange_step_time(const ExchangeOptions& options, std::int64_t passes,
                                           const StepModelInput& in, double density) {
    const ExchangeSchedule& schedule = options.schedule;
    const std::vector<PieceOfForm> pieces = pieces_of_form(options, in);
    if (schedule.begin == Begin::into_forward) return std::nullopt;
    if (schedule.streams > 1 && pieces.size() > 1)
        return streams_step_time(options, passes, in, density, pieces);
    std::vector<ScheduledPiece> scheduled;
    for (const PieceOfForm& piece : pieces) {
        const auto form = piece_form(options, *piece.charged, passes, in, density);
        if (!form) return std::nullopt;
        scheduled.push_back({piece.bucket, *form});
    }
    return sum(end_of_pieces(in.timing, schedule, scheduled), in.update);
}

std::optional<ExchangeEstimate> exchange_estimate(const ExchangeOptions& options,
                                                  const StepModelInput& in) {
    const LayoutPtr charged = with_left_out(in.layout, options.codec.leave_out);
    const auto* const dgc = std::get_if<DgcOptions>(&options.codec.coder);
    const AllReducePlan& plan = options.aggregation.all_reduce;
    const auto* const compressor = std::get_if<Compressor>(&options.codec.coder);
    const bool by_nccl = options.aggregation.kind == Aggregation::all_reduce &&
                         plan.method == AllReduce::nccl && compressor != nullptr &&
                         !compressor->scaler && options.aggregation.machines == ByMachine::flat;
    const auto held = [=, density = dgc == nullptr ? 1 : dgc->density](const Bucket& bucket) {
        const Layout run = *part_of(*charged, charged->offset(bucket.first),
                                    charged->offset(bucket.first + bucket.count));
        if (by_nccl)
            return std::optional(nccl_choice(plan.library, Nccl::Operation::all_reduce,
                                             form_of_packed(*compressor, run, in.wire), in.workers)
                                     .estimate);
        auto form = piece_form(options, run, 0, in, density);
        if (!form) return std::optional<Duration>();
        return std::optional(total_time({{}, form->travel, {}}));
    };
    const std::size_t tensors = charged->tensors().size();
    if (tensors < 2) return std::nullopt;
    const auto first = held({0, tensors / 2, {}});
    const auto second = held({tensors / 2, tensors - tensors / 2, {}});
    const auto both = held({0, tensors, {}});
    if (!first || !second || !both) return std::nullopt;
    const Duration start_up = std::max(Duration::zero(), sum(*first, *second) - *both);
    const auto between = [charged, start_up, all = *both](const Bucket& bucket) {
        const std::int64_t entries =
            charged->offset(bucket.first + bucket.count) - charged->offset(bucket.first);
        return start_up +
               from_seconds(to_seconds(std::max(Duration::zero(), all - start_up)) *
                            static_cast<double>(entries) / static_cast<double>(charged->entries()));
    };
    return ExchangeEstimate{start_up, [held, between](const Bucket& bucket) {
                                return held(bucket).value_or(between(bucket));
                            }};
}

std::int64_t exchange_messages(const ExchangeOptions& options, const StepModelInput& in,
                               double density) {
    std::int64_t messages = 0;
    for (const PieceOfForm& piece : pieces_of_form(options, in))
        messages += piece_messages(options, *piece.charged, in, density);
    return messages;
}

}  // namespace paceline
