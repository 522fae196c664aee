#include "analysis/forms/exchange_forms.hpp"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "algorithms/compression/error_feedback.hpp"
#include "algorithms/exchange/low_rank_coder.hpp"
#include "algorithms/exchange/sparse_coder.hpp"
#include "analysis/forms/adaptive_step_models.hpp"
#include "analysis/forms/compressed_step_models.hpp"
#include "analysis/forms/message_counts.hpp"
#include "analysis/forms/sparse_forms.hpp"

namespace paceline {

namespace {

using MaybeTime = std::optional<Duration>;  // empty if no closed form is known

MaybeTime added(MaybeTime a, MaybeTime b) {
    if (!a || !b) return std::nullopt;
    return sum(*a, *b);
}

// Returns what joins all n workers uniformly, if anything does: their bus or the star.
std::optional<IdleStar> lone_star(int n, const IdleNetwork& network) {
    if (network.bus && n > network.devices) return std::nullopt;
    return network.bus ? *network.bus : network.star;
}

// The longest of n nearly equal parts: that of the last worker.
Layout longest_part(const Layout& layout, int n) {
    const std::int64_t entries = layout.entries();
    const std::int64_t longest = entries / n + (entries % n > 0 ? 1 : 0);
    return *part_of(layout, entries - longest, entries);
}

Bytes packed(const Compressor& compressor, const Layout& layout, WireFormat wire) {
    return compressor.lossless ? wire.weigh(layout.entries()) : form_of_packed(compressor, layout);
}

// The longest chunk of n: its share of what is encoded, and of what is left out.
Bytes longest_chunk(const Compressor& compressor, const Layout& layout, WireFormat wire, int n) {
    const LayoutPtr encoded = without_left_out(std::make_shared<const Layout>(layout));
    const std::int64_t rest = 4 * (layout.entries() - encoded->entries());
    return packed(compressor, longest_part(*encoded, n), wire) +
           Bytes{rest / n + (rest % n > 0 ? 1 : 0)};
}

struct CompressedForm {
    const Compressor& compressor;
    const Codec& codec;
    const TransportPlan& transport;
    const Layout& layout;
    const StepModelInput& in;
    int n;
    IdleNetwork network;

    [[nodiscard]] Duration encoding(const Layout& of, std::int64_t passes) const {
        return encoding_time(compressor, codec.coding, of,
                             passes + (codec.error_feedback ? error_feedback_passes : 0));
    }
    [[nodiscard]] Duration decoding(const Layout& of, std::int64_t messages) const {
        return decoding_time(compressor, codec.coding, of, messages);
    }
    [[nodiscard]] Layout encoded_part(int parts) const {
        return longest_part(*without_left_out(std::make_shared<const Layout>(layout)), parts);
    }
    [[nodiscard]] Duration only_passes(std::int64_t passes) const {
        return coding_time(codec.coding, passes, layout.entries());
    }
};

MaybeTime two_phase_form(const CompressedForm& f, std::int64_t passes) {
    const auto star = lone_star(f.n, f.network);
    if (!star) return std::nullopt;
    const Layout chunk = f.encoded_part(f.n);
    const Bytes longest = longest_chunk(f.compressor, f.layout, f.in.wire, f.n);
    const Duration phases = sum(all_to_all_time(f.n, longest, *star),
                                ring_all_gather_time(f.n, longest, *star));
    const Duration owner = sum(f.decoding(chunk, f.n), f.encoding(chunk, 0));
    return sum(sum(f.encoding(f.layout, passes), phases), sum(owner, f.decoding(f.layout, 1)));
}

MaybeTime servers_form(const CompressedForm& f, std::int64_t passes) {
    const auto star = lone_star(f.n, f.network);
    if (!star) return std::nullopt;
    const int servers = std::min(f.transport.servers, f.n);
    const Layout shard = f.encoded_part(servers);
    const bool up = f.transport.coded != ServerCoding::none;
    const bool both = f.transport.coded == ServerCoding::both;
    const std::int64_t others = f.transport.first_server_node ? f.n : f.n - 1;
    const auto phase = [&](bool encoded) {
        const Bytes one =
            encoded ? longest_chunk(f.compressor, f.layout, f.in.wire, servers)
                    : f.in.wire.weigh(longest_part(f.layout, servers).entries());
        return others == 0 ? Duration{} : sum(star->latency, (others * one) / star->bandwidth);
    };
    Duration work{};
    if (up) work = f.decoding(shard, f.n);
    if (both) work = sum(work, f.encoding(shard, 0));
    const Duration coding = sum(up ? f.encoding(f.layout, passes) : f.only_passes(passes),
                                both ? f.decoding(f.layout, 1) : Duration{});
    return sum(sum(phase(up), phase(both)), sum(work, coding));
}

MaybeTime scalers_form(const CompressedForm& f) {
    if (!f.compressor.scaler) return Duration{};
    const auto tensors = static_cast<std::int64_t>(f.layout.tensors().size());
    return all_reduce_time(AllReduce::recursive_doubling, f.n, Bytes{4 * tensors}, f.network);
}

MaybeTime compressed_form(const CompressedForm& f, std::int64_t passes) {
    MaybeTime travel;
    switch (f.transport.carrier) {
        case Carrier::all_reduce: {
            Bytes size = packed(f.compressor, f.layout, f.in.wire);
            if (f.compressor.bits_of_sum) size = sum_bytes(f.compressor, f.layout, f.n);
            travel = added(sum(f.encoding(f.layout, passes), f.decoding(f.layout, 1)),
                          all_reduce_time(f.transport.all_reduce, f.n, size, f.network));
            break;
        }
        case Carrier::all_gather:
            travel = added(sum(f.encoding(f.layout, passes), f.decoding(f.layout, f.n)),
                          all_gather_time(f.transport.all_gather, f.n,
                                          packed(f.compressor, f.layout, f.in.wire), f.network));
            break;
        case Carrier::two_phase:
            travel = two_phase_form(f, passes);
            break;
        case Carrier::servers:
            travel = servers_form(f, passes);
            break;
        case Carrier::sparse_all_reduce:
            break;
    }
    return added(travel, scalers_form(f));
}

MaybeTime low_rank_form(const ExchangeOptions& options, const Layout& layout, std::int64_t passes,
                    int n, const IdleNetwork& network) {
    if (options.transport.carrier != Carrier::all_reduce) return std::nullopt;
    const LowRankBytes size = low_rank_bytes(std::get<LowRankCodec>(options.codec.coder), layout);
    const AllReducePlan plan = options.transport.all_reduce;
    const Duration coding =
        coding_time(options.codec.coding, low_rank_passes + passes, layout.entries());
    return added(coding, added(all_reduce_time(plan, n, size.left, network),
                             all_reduce_time(plan, n, size.right, network)));
}

MaybeTime sparse_form(const ExchangeOptions& options, const Layout& layout, int n,
                  const StepModelInput& in, const IdleNetwork& network, double density) {
    if (options.transport.carrier == Carrier::servers) return std::nullopt;
    StepModelInput whole = in;
    whole.workers = n;
    whole.network = network;
    whole.layout = std::make_shared<const Layout>(layout);
    whole.timing.step = {};
    whole.update = {};
    return dgc_step_time(as_carried(std::get<DgcOptions>(options.codec.coder), options.transport),
                         density, whole);
}

// Returns the time of an exchange among n workers of a network, as if it were flat.
MaybeTime flat_form(const ExchangeOptions& options, const Layout& layout, std::int64_t passes, int n,
                const StepModelInput& in, const IdleNetwork& network, double density) {
    if (const auto* const compressor = std::get_if<Compressor>(&options.codec.coder))
        return compressed_form(
            {*compressor, options.codec, options.transport, layout, in, n, network}, passes);
    if (std::holds_alternative<LowRankCodec>(options.codec.coder))
        return low_rank_form(options, layout, passes, n, network);
    if (const auto* const one_bit = std::get_if<OneBitCodec>(&options.codec.coder)) {
        const auto copy = std::make_shared<const Layout>(layout);
        return one_bit_all_reduce_time(
            one_bit->fused ? fused_buffer(copy, n) : buffer_per_tensor(copy, n),
            options.codec.coding, network);
    }
    return sparse_form(options, layout, n, in, network, density);
}

Duration rooted_time(int devices, Bytes size, const IdleStar& bus) {
    if (devices == 1) return {};
    const Bytes chunk{size.count / devices + (size.count % devices > 0 ? 1 : 0)};
    return sum(ring_reduce_scatter_time(devices, size, bus),
               sum(bus.latency, ((devices - 1) * chunk) / bus.bandwidth));
}

MaybeTime by_machine_form(const ExchangeOptions& options, const Layout& layout, std::int64_t passes,
                      const StepModelInput& in, double density) {
    const TransportPlan& transport = options.transport;
    if (!in.network.bus || transport.encoded_inside) return std::nullopt;
    const IdleStar& bus = *in.network.bus;
    const int devices = in.network.devices;
    const int machines = in.workers / devices;
    const Bytes dense = fp32.weigh(layout.entries());
    IdleNetwork between{in.network.star, std::nullopt, 1};
    const auto coding = [&](std::int64_t n) {
        return coding_time(options.codec.coding, n, layout.entries());
    };
    if (transport.machines == ByMachine::leaders) {
        between.star.bandwidth = std::min(between.star.bandwidth, bus.bandwidth);
        const Duration inside = multiple(2, rooted_time(devices, dense, bus));
        return added(sum(inside, coding(passes)),
                    flat_form(options, layout, 0, machines, in, between, density));
    }
    between.star.bandwidth = std::min(Bandwidth{between.star.bandwidth.bits_per_second / devices},
                                      bus.bandwidth);
    const Duration inside = multiple(2, ring_reduce_scatter_time(devices, dense, bus));
    return added(sum(inside, coding(passes)),
                flat_form(options, longest_part(layout, devices), 0, machines, in, between,
                          density));
}

bool is_coded(const ExchangeOptions& options) {
    const auto* const compressor = std::get_if<Compressor>(&options.codec.coder);
    return compressor == nullptr || compressor->encode > 0 || compressor->decode > 0 ||
           options.codec.error_feedback;
}

LayoutPtr charged_of(const ExchangeOptions& options, const StepModelInput& in) {
    return with_left_out(in.layout, options.codec.leave_out);
}

Layout layout_of(const Bucket& bucket, const Layout& layout) {
    return *part_of(layout, layout.offset(bucket.first), layout.offset(bucket.first + bucket.count));
}

std::int64_t flat_messages(const ExchangeOptions& options, const Layout& layout, int n,
                           WireFormat wire, double density) {
    const TransportPlan& transport = options.transport;
    const std::int64_t all = n;
    if (const auto* const low = std::get_if<LowRankCodec>(&options.codec.coder)) {
        const LowRankBytes size = low_rank_bytes(*low, layout);
        if (transport.carrier == Carrier::all_reduce)
            return all_reduce_messages(transport.all_reduce, n, size.left) +
                   all_reduce_messages(transport.all_reduce, n, size.right);
    }
    if (const auto* const one_bit = std::get_if<OneBitCodec>(&options.codec.coder))
        return 4 * all * (all - 1) *
               (one_bit->fused ? 1 : static_cast<std::int64_t>(layout.tensors().size()));
    std::int64_t messages = 0;
    switch (transport.carrier) {
        case Carrier::all_reduce: {
            const auto& compressor = std::get<Compressor>(options.codec.coder);
            if (compressor.scaler)
                messages = all_reduce_messages(AllReduce::recursive_doubling, n, Bytes{4});
            return messages + all_reduce_messages(transport.all_reduce, n,
                                                  packed(compressor, layout, wire));
        }
        case Carrier::two_phase:
            return 2 * all * (all - 1);
        case Carrier::servers:
            return 2 * std::min<std::int64_t>(transport.servers, all) *
                   (transport.first_server_node ? all : all - 1) *
                   (std::holds_alternative<LowRankCodec>(options.codec.coder) ? 2 : 1);
        case Carrier::all_gather:
        case Carrier::sparse_all_reduce:
            break;
    }
    if (const auto* const dgc = std::get_if<DgcOptions>(&options.codec.coder))
        return sparse_exchange_messages(as_carried(*dgc, transport), layout, density, n);
    return all_gather_messages(transport.all_gather, n);
}

std::int64_t piece_messages(const ExchangeOptions& options, const Layout& layout,
                            const StepModelInput& in, double density) {
    if (options.transport.machines == ByMachine::flat)
        return flat_messages(options, layout, in.workers, in.wire, density);
    const std::int64_t g = options.transport.devices;
    const std::int64_t p = in.workers / g;
    const auto machines = static_cast<int>(p);
    if (options.transport.machines == ByMachine::shards)
        return 2 * p * g * (g - 1) + g * flat_messages(options, longest_part(layout, static_cast<int>(g)),
                                                       machines, in.wire, density);
    const std::int64_t inside = options.transport.encoded_inside
                                    ? (g - 1) + (g - 1) + g * (g - 1)
                                    : 2 * (g * (g - 1) + g - 1);
    return p * inside + flat_messages(options, layout, machines, in.wire, density);
}

}  // namespace

Bytes form_of_contribution(const ExchangeOptions& options, const Layout& layout, WireFormat wire,
                           int workers, double density) {
    const Layout charged = *with_left_out(std::make_shared<const Layout>(layout),
                                          options.codec.leave_out);
    if (const auto* const compressor = std::get_if<Compressor>(&options.codec.coder))
        return packed(*compressor, charged, wire);
    if (const auto* const low = std::get_if<LowRankCodec>(&options.codec.coder)) {
        const LowRankBytes size = low_rank_bytes(*low, charged);
        return size.left + size.right;
    }
    if (const auto* const one_bit = std::get_if<OneBitCodec>(&options.codec.coder)) {
        const auto copy = std::make_shared<const Layout>(charged);
        return one_bit_bytes(one_bit->fused ? fused_buffer(copy, workers)
                                            : buffer_per_tensor(copy, workers));
    }
    return form_of_message(charged, density, std::get<DgcOptions>(options.codec.coder).format);
}

std::optional<Duration> exchange_time(const ExchangeOptions& options, const Layout& layout,
                                      std::int64_t passes, const StepModelInput& in,
                                      double density) {
    if (options.transport.machines != ByMachine::flat)
        return by_machine_form(options, layout, passes, in, density);
    return flat_form(options, layout, passes, in.workers, in, in.network, density);
}

std::optional<Duration> exchange_step_time(const ExchangeOptions& options, std::int64_t passes,
                                           const StepModelInput& in, double density) {
    const LayoutPtr charged = charged_of(options, in);
    const ExchangeSchedule& schedule = options.schedule;
    if (schedule.partition || schedule.streams > 1 || schedule.order == Order::priority ||
        schedule.begin == Begin::into_forward)
        return std::nullopt;
    if (schedule.whole || in.timing.buckets.size() == 1)
        return added(sum(in.timing.step, in.update),
                    exchange_time(options, *charged, passes, in, density));
    if (is_coded(options) || passes > 0) return std::nullopt;
    Duration end{};  // of the exchanges so far
    for (const Bucket& bucket : in.timing.buckets) {
        const MaybeTime travel = exchange_time(options, layout_of(bucket, *charged), 0, in, density);
        if (!travel) return std::nullopt;
        const Duration ready =
            schedule.begin == Begin::after_backward ? in.timing.step : bucket.ready;
        end = sum(std::max(end, ready), *travel);
    }
    return sum(end, in.update);
}

std::int64_t exchange_messages(const ExchangeOptions& options, const StepModelInput& in,
                               double density) {
    const LayoutPtr charged = charged_of(options, in);
    if (options.schedule.whole && !options.schedule.partition)
        return piece_messages(options, *charged, in, density);
    std::int64_t messages = 0;
    for (const Bucket& bucket : in.timing.buckets) {
        const Layout layout = layout_of(bucket, *charged);
        std::int64_t parts = 1;
        if (options.schedule.partition) {
            const std::int64_t most = std::max<std::int64_t>(
                1, options.schedule.partition->count / in.wire.weigh(1).count);
            parts = std::max<std::int64_t>(1, (layout.entries() + most - 1) / most);
        }
        messages += parts * piece_messages(options, longest_part(layout, static_cast<int>(parts)),
                                           in, density);
    }
    return messages;
}

std::optional<Duration> neighbor_exchange_step_time(const ExchangeOptions& options,
                                                    const Mixing& mixing, int vectors, bool beside,
                                                    const StepModelInput& in) {
    if (!options.schedule.whole || is_coded(options)) return std::nullopt;
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
    const MaybeTime between = neighbor_step_time(mixing, 1, false, machines);
    if (!between) return std::nullopt;
    const Bytes dense = fp32.weigh(in.layout->entries());
    const Duration average =
        sum(*between, multiple(2, rooted_time(in.network.devices, dense, bus)));
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
