#include "analysis/forms/aggregation_forms.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <variant>

#include "algorithms/coders/low_rank_coder.hpp"
#include "algorithms/coders/one_bit_all_reduce.hpp"
#include "algorithms/compression/error_feedback.hpp"
#include "analysis/forms/compressed_step_models.hpp"
#include "analysis/forms/inside_forms.hpp"
#include "analysis/forms/sparse_forms.hpp"

namespace paceline {

namespace {

using Travel = std::optional<std::vector<PieceStage>>;  // empty if no closed form is known
using MaybeTime = std::optional<Duration>;

PieceStage on_device(Duration time) {
    return {true, time};
}

std::vector<PieceStage> device_if_any(Duration time) {
    if (time == Duration::zero()) return {};
    return {on_device(time)};
}

Travel on_wires(MaybeTime time) {
    if (!time) return std::nullopt;
    return std::vector{PieceStage{false, *time}};
}

Travel then(Travel first, const Travel& second) {
    if (!first || !second) return std::nullopt;
    first->insert(first->end(), second->begin(), second->end());
    return first;
}

Bytes longest_of(Bytes size, int parts) {
    return {size.count / parts + (size.count % parts > 0 ? 1 : 0)};
}

// Returns what joins all n workers uniformly, if anything does: their bus or the star.
std::optional<IdleStar> lone_star(int n, const IdleNetwork& network) {
    if (network.bus && n > network.devices) return std::nullopt;
    return network.bus ? *network.bus : network.star;
}

// A vector that is exchanged among n workers of a network, as if that were all.
struct Flat {
    const ExchangeOptions& options;
    const Layout& layout;
    std::int64_t passes;
    int n;
    const IdleNetwork& network;
    WireFormat wire;
    double density;

    [[nodiscard]] const AggregationPlan& aggregation() const { return options.aggregation; }
    [[nodiscard]] const CodingCost& coding() const { return options.codec.coding; }
};

// One phase of an exchange with q servers: `size` bytes from or to each worker, for each shard.
MaybeTime server_phase_time(const Flat& f, int q, Bytes size) {
    const bool own_nodes = f.aggregation().first_server_node.has_value();
    if (f.n == 1 && !own_nodes) return Duration{};
    if (const auto star = lone_star(f.n, f.network))
        return sum(star->latency, star->together(own_nodes ? f.n : f.n - 1, size));
    if (own_nodes) return std::nullopt;
    if (f.network.cards > 1) return std::nullopt;
    const std::int64_t g = f.network.devices;
    return sum(f.network.star.latency,
               std::max(f.network.star.together(std::min<std::int64_t>(q, g) * (f.n - g), size),
                        ((f.n - 1) * size) / f.network.bus->bandwidth));
}

// Returns the start-up of a collective among the workers.
Duration start_up_of(const Flat& f) {
    return f.n == 1 ? Duration{} : f.network.star.start_up;
}

// Dense sums through servers that nothing is encoded for; they cut at bytes.
MaybeTime summing_servers_time(const Flat& f, Bytes up, Bytes down) {
    const int q = std::min(f.aggregation().servers, f.n);
    const MaybeTime push = server_phase_time(f, q, longest_of(up, q));
    const MaybeTime pull = server_phase_time(f, q, longest_of(down, q));
    if (!push || !pull) return std::nullopt;
    return sum(start_up_of(f), sum(*push, *pull));
}

// -- compressors ---------------------------------------------------------------------------------

struct Compressed : Flat {
    const Compressor& compressor;

    [[nodiscard]] std::int64_t own_passes() const {
        return options.codec.error_feedback ? error_feedback_passes : 0;
    }
    [[nodiscard]] Duration encoding(const Layout& of, std::int64_t extra) const {
        return encoding_time(compressor, coding(), of, extra + own_passes());
    }
    [[nodiscard]] Duration decoding(const Layout& of, std::int64_t messages) const {
        return decoding_time(compressor, coding(), of, messages);
    }
    [[nodiscard]] Bytes packed(const Layout& of) const {
        return form_of_packed(compressor, of, wire);
    }
    [[nodiscard]] bool encodes_up() const {
        return aggregation().kind != Aggregation::servers ||
               aggregation().coded != ServerCoding::none;
    }
    [[nodiscard]] bool encodes_again() const {
        return aggregation().kind == Aggregation::two_phase ||
               (aggregation().kind == Aggregation::servers &&
                aggregation().coded == ServerCoding::both);
    }
    [[nodiscard]] std::int64_t messages_decoded() const {
        if (aggregation().kind == Aggregation::all_gather) return n;
        return aggregation().kind == Aggregation::all_reduce || encodes_again() ? 1 : 0;
    }
    // Owner's or server's work on its chunk of what is encoded.
    [[nodiscard]] Duration work_on(const Layout& chunk) const {
        const Duration decoded = encodes_up() ? decoding(chunk, n) : Duration{};
        return encodes_again() ? sum(decoded, encoding(chunk, 0)) : decoded;
    }
};

Layout encoded_tensors(const Layout& layout) {
    std::vector<Tensor> tensors;
    for (const Tensor& tensor : layout.tensors())
        if (!tensor.left_out) tensors.push_back(tensor);
    return Layout(std::move(tensors));
}

// What the owner of chunk j of k gets of every message, and what it does with it.
struct OwnedChunk {
    Bytes packed;
    Bytes dense;
    Duration work{};
};

std::vector<OwnedChunk> owned_chunks(const Compressed& c, int k) {
    const Layout encoded = encoded_tensors(c.layout);
    const Bytes rest{4 * (c.layout.entries() - encoded.entries())};
    std::vector<OwnedChunk> chunks;
    for (int j = 0; j < k; ++j) {
        const Layout chunk = form_of_chunk(encoded, k, j);
        const std::int64_t one_more = j >= k - rest.count % k ? 1 : 0;
        chunks.push_back({c.packed(chunk) + Bytes{rest.count / k + one_more},
                          c.wire.weigh(form_of_chunk(c.layout, k, j).entries()), c.work_on(chunk)});
    }
    return chunks;
}

std::vector<PieceStage> encode_stages(const Compressed& c) {
    if (!c.encodes_up())
        return device_if_any(coding_time(c.coding(), c.passes, c.layout.entries()));
    const Duration time = c.encoding(c.layout, c.passes);
    if (c.compressor.lossless && !c.options.codec.error_feedback) return device_if_any(time);
    return {on_device(time)};
}

Travel two_phase_stages(const Compressed& c) {
    const auto star = lone_star(c.n, c.network);
    if (!star) return std::nullopt;
    Bytes longest;
    Duration work{};
    for (const OwnedChunk& chunk : owned_chunks(c, c.n)) {
        longest = std::max(longest, chunk.packed);
        work = std::max(work, chunk.work);
    }
    return then(then(on_wires(all_to_all_time(c.aggregation().all_to_all, c.n, longest, *star)),
                     device_if_any(work)),
                on_wires(ring_all_gather_time(c.n, longest, begun(*star))));
}

// The slowest shard decides.
Travel server_stages(const Compressed& c) {
    const int q = std::min(c.aggregation().servers, c.n);
    Travel slowest;
    Duration most{-1};
    for (const OwnedChunk& shard : owned_chunks(c, q)) {
        const MaybeTime push = server_phase_time(c, q, c.encodes_up() ? shard.packed : shard.dense);
        const MaybeTime pull =
            server_phase_time(c, q, c.encodes_again() ? shard.packed : shard.dense);
        if (!push || !pull) return std::nullopt;
        const Duration all = sum(sum(*push, *pull), shard.work);
        if (all <= most) continue;
        most = all;
        slowest = then(then(on_wires(sum(start_up_of(c), *push)), device_if_any(shard.work)),
                       on_wires(pull));
    }
    return slowest;
}

MaybeTime scalers_time(const Compressed& c) {
    const Bytes size{4 * static_cast<std::int64_t>(c.layout.tensors().size())};
    if (lone_star(c.n, c.network))
        return all_reduce_time(AllReduce::recursive_doubling, c.n, size, c.network);
    const int g = c.network.devices;
    if (!std::has_single_bit(static_cast<unsigned>(c.n)) ||
        !std::has_single_bit(static_cast<unsigned>(g)))
        return std::nullopt;
    return recursive_doubling_over_machines_time(c.n / g, g, size, *c.network.bus, c.network.star,
                                                 c.network.sharing());
}

Bytes packed_sum(const Compressed& c) {
    if (c.compressor.lossless || !c.compressor.bits_of_sum) return c.packed(c.layout);
    std::int64_t bits = 0;
    for (const Tensor& tensor : c.layout.tensors())
        bits += tensor.left_out ? 32 * tensor.entries() : c.compressor.bits_of_sum(tensor, c.n);
    return {bits / 8 + (bits % 8 == 0 ? 0 : 1)};
}

Travel carried_stages(const Compressed& c) {
    switch (c.aggregation().kind) {
        case Aggregation::all_reduce:
            return on_wires(
                all_reduce_time(c.aggregation().all_reduce, c.n, packed_sum(c), c.network));
        case Aggregation::all_gather:
            return on_wires(
                all_gather_time(c.aggregation().all_gather, c.n, c.packed(c.layout), c.network));
        case Aggregation::two_phase:
            return two_phase_stages(c);
        case Aggregation::servers:
            return server_stages(c);
        case Aggregation::sparse_all_reduce:
            break;
    }
    return std::nullopt;
}

std::optional<PieceForm> compressed_form(const Compressed& c) {
    Travel travel = carried_stages(c);
    if (c.compressor.scaler && c.encodes_up()) travel = then(on_wires(scalers_time(c)), travel);
    if (!travel) return std::nullopt;
    return PieceForm{encode_stages(c), *travel,
                     device_if_any(c.decoding(c.layout, c.messages_decoded()))};
}

// -- other codecs --------------------------------------------------------------------------------

Duration measured_time(const CodingTime& time, std::int64_t tensors, std::int64_t entries) {
    return sum(multiple(tensors, time.per_tensor), multiple(entries, time.per_entry));
}

std::optional<PieceForm> low_rank_form(const Flat& f, const LowRankCodec& codec) {
    const LowRankBytes size = low_rank_bytes(codec, f.layout);
    const std::int64_t encoded = encoded_tensors(f.layout).entries();
    const auto added_up = [&](Bytes of) -> MaybeTime {
        if (f.aggregation().kind == Aggregation::servers) return summing_servers_time(f, of, of);
        return all_reduce_time(f.aggregation().all_reduce, f.n, of, f.network);
    };
    const auto pass = [&](std::int64_t passes) {
        return std::vector{on_device(coding_time(f.coding(), passes, encoded))};
    };
    const auto& measured = f.coding().measured;
    const Travel travel = then(then(on_wires(added_up(size.left)), measured ? pass(0) : pass(1)),
                               on_wires(added_up(size.right)));
    if (!travel) return std::nullopt;
    if (!measured) return PieceForm{pass(2 + f.passes), *travel, pass(2)};
    const auto tensors = static_cast<std::int64_t>(encoded_tensors(f.layout).tensors().size());
    return PieceForm{{on_device(measured_time(measured->encode, tensors, encoded))},
                     *travel,
                     {on_device(measured_time(measured->decode, tensors, encoded))}};
}

std::optional<PieceForm> one_bit_form(const Flat& f, const OneBitCodec& codec) {
    const OneBitBuffers cut = form_of_buffers(codec, f.layout, f.n);
    PieceForm form{{on_device(coding_time(f.coding(), f.passes, cut.layout->entries()))}, {}, {}};
    for (const OneBitBuffer& buffer : cut.buffers) {
        const std::int64_t chunk = buffer.padded / f.n;
        const auto there =
            all_to_all_time(f.aggregation().all_to_all, f.n, Bytes{chunk / 8}, f.network);
        const auto scales = all_gather_time(AllGather::ring, f.n, Bytes{4}, f.network);
        const auto back = all_gather_time(AllGather::ring, f.n, Bytes{chunk / 8}, f.network);
        if (!there || !scales || !back) return std::nullopt;
        const auto pass = [&](std::int64_t entries) {
            return on_device(coding_time(f.coding(), 1, entries));
        };
        form.travel.insert(form.travel.end(), {pass(2 * buffer.padded),
                                               {false, sum(*there, *scales)},
                                               pass(buffer.padded + 2 * chunk),
                                               {false, sum(*back, *scales)},
                                               pass(buffer.padded)});
    }
    const Bytes left_out = form_of_left_out(f.layout);
    if (left_out == Bytes{}) return form;
    const auto dense = all_reduce_time(f.aggregation().all_reduce, f.n, left_out, f.network);
    if (!dense) return std::nullopt;
    form.travel.push_back({false, *dense});
    return form;
}

std::optional<PieceForm> sparse_form(const Flat& f, DgcOptions options) {
    MaybeTime travel;
    if (f.aggregation().kind == Aggregation::servers) {
        options.uncompressed = Uncompressed::in_messages;
        travel = summing_servers_time(f, form_of_union(options, f.layout, f.density, 1),
                                      form_of_dense(f.layout, options.format));
    } else {
        travel = sparse_travel_time(options, f.aggregation(), f.density, f.layout, f.n, f.network);
    }
    if (!travel) return std::nullopt;
    if (f.density == 1) return PieceForm{{on_device({})}, {{false, *travel}}, {}};
    if (const auto& measured = f.coding().measured) {
        std::int64_t tensors = 0;
        std::int64_t entries = 0;
        for (const Tensor& tensor : f.layout.tensors()) {
            if (tensor.left_out || tensor.shape.size() < 2) continue;
            ++tensors;
            entries += tensor.entries();
        }
        const Duration merged =
            measured_time(measured->decode, tensors, form_of_kept(f.layout, f.density));
        return PieceForm{{on_device(measured_time(measured->encode, tensors, entries))},
                         {{false, *travel}},
                         device_if_any(multiple(
                             f.aggregation().kind == Aggregation::servers ? 1 : f.n, merged))};
    }
    const Duration search = form_of_selection(options.selection, f.layout, f.density);
    return PieceForm{{on_device(search)}, {{false, *travel}}, {}};
}

std::optional<PieceForm> flat_form(const Flat& f) {
    const auto& coder = f.options.codec.coder;
    if (const auto* const compressor = std::get_if<Compressor>(&coder))
        return compressed_form({f, *compressor});
    if (const auto* const low_rank = std::get_if<LowRankCodec>(&coder))
        return low_rank_form(f, *low_rank);
    if (const auto* const one_bit = std::get_if<OneBitCodec>(&coder))
        return one_bit_form(f, *one_bit);
    return sparse_form(f, std::get<DgcOptions>(coder));
}

// -- by machine ----------------------------------------------------------------------------------

std::vector<PieceStage> all_stages(const PieceForm& form) {
    std::vector<PieceStage> all = form.encode;
    all.insert(all.end(), form.travel.begin(), form.travel.end());
    all.insert(all.end(), form.decode.begin(), form.decode.end());
    return all;
}

struct Machines {
    int g;
    int p;
    IdleStar bus;
    IdleNetwork between;  // machines, as the first devices see it
};

// What everybody decodes at the end: what a leader has received.
struct Received {
    Bytes size;
    std::int64_t messages;
};

Received received(const Compressed& c) {
    if (c.aggregation().kind == Aggregation::all_gather) return {c.n * c.packed(c.layout), c.n};
    if (c.aggregation().kind == Aggregation::all_reduce) return {packed_sum(c), 1};
    if (c.encodes_again()) return {c.packed(c.layout), 1};
    return {c.wire.weigh(c.layout.entries()), 0};
}

std::optional<PieceForm> encoded_leaders_form(const Flat& f, const Machines& machines) {
    const auto* const compressor = std::get_if<Compressor>(&f.options.codec.coder);
    if (compressor == nullptr) return std::nullopt;
    const Compressed c{f, *compressor};
    const std::optional<PieceForm> between = compressed_form(c);
    if (!between) return std::nullopt;
    const int g = machines.g;
    const IdleStar& bus = machines.bus;
    const Duration gather =
        g == 1
            ? Duration{}
            : sum(bus.start_up, sum(bus.latency, ((g - 1) * c.packed(c.layout)) / bus.bandwidth));
    const Received last = received(c);
    std::vector<PieceStage> travel{
        {false, gather}, on_device(c.decoding(c.layout, g)), on_device(c.encoding(c.layout, 0))};
    travel.insert(travel.end(), between->travel.begin(), between->travel.end());
    travel.push_back({false, inside_machine_time(g, last.size, bus)});
    const Travel all = then(travel, device_if_any(c.decoding(c.layout, last.messages)));
    return PieceForm{{on_device(c.encoding(c.layout, f.passes))}, *all, {}};
}

std::optional<PieceForm> between_phases(const Flat& f, Duration inside,
                                        const std::optional<PieceForm>& between) {
    if (!between) return std::nullopt;
    const Travel travel = then(then(on_wires(inside), all_stages(*between)), on_wires(inside));
    return PieceForm{
        device_if_any(coding_time(f.coding(), f.passes, f.layout.entries())), *travel, {}};
}

std::optional<PieceForm> leaders_form(Flat f, Machines machines) {
    machines.between.star = capped(machines.between.star, machines.bus.bandwidth);
    const Flat leader{f.options,        f.layout, f.passes, machines.p,
                      machines.between, f.wire,   f.density};
    if (f.options.aggregation.encoded_inside) return encoded_leaders_form(leader, machines);
    const Duration inside =
        inside_machine_time(machines.g, fp32.weigh(f.layout.entries()), machines.bus);
    Flat idle = leader;
    idle.passes = 0;
    return between_phases(f, inside, flat_form(idle));
}

std::optional<PieceForm> shards_form(const Flat& f, Machines machines) {
    const IdleStar& card = machines.between.star;
    const Bandwidth share{card.card.value_or(card.bandwidth).bits_per_second / f.network.sharing()};
    machines.between.star = capped(capped(card, share), machines.bus.bandwidth);
    std::optional<PieceForm> longest;
    for (int i = 0; i < machines.g; ++i) {
        const Layout chunk = form_of_chunk(f.layout, machines.g, i);
        auto one =
            flat_form({f.options, chunk, 0, machines.p, machines.between, f.wire, f.density});
        if (!one) return std::nullopt;
        if (!longest || total_time(*longest) < total_time(*one)) longest = std::move(one);
    }
    const Duration inside =
        ring_reduce_scatter_time(machines.g, fp32.weigh(f.layout.entries()), machines.bus);
    return between_phases(f, inside, longest);
}

std::optional<PieceForm> machines_form(const Flat& f) {
    if (f.aggregation().levels) return std::nullopt;
    const int g = f.aggregation().devices;
    if (g > 1 && !f.network.bus) return std::nullopt;
    const IdleStar bus = f.network.bus.value_or(f.network.star);
    const Machines machines{g, f.n / g, bus, {f.network.star, std::nullopt, 1}};
    return f.aggregation().machines == ByMachine::leaders ? leaders_form(f, machines)
                                                          : shards_form(f, machines);
}

// Workers are islands: what comes by the lanes is handed on inside.
std::optional<PieceForm> islands_form(const Flat& f) {
    const IdleNetwork lane = lane_between_islands(f.network);
    if (f.n == 1) return flat_form({f.options, f.layout, f.passes, 1, lane, f.wire, f.density});
    const int lanes = f.network.islands == IslandLanes::leaders ? 1 : f.network.devices;
    std::optional<PieceForm> longest;
    for (int i = 0; i < lanes; ++i) {
        const Layout chunk = form_of_chunk(f.layout, lanes, i);
        auto one = flat_form({f.options, chunk, f.passes, f.n, lane, f.wire, f.density});
        if (!one) return std::nullopt;
        if (!longest || total_time(*longest) < total_time(*one)) longest = std::move(one);
    }
    std::vector<PieceStage>& travel = longest->travel;
    travel.insert(travel.end(), longest->decode.begin(), longest->decode.end());
    travel.push_back({false, inside_island_time(f.wire.weigh(f.layout.entries()), f.network)});
    longest->decode.clear();
    return longest;
}

}  // namespace

OneBitBuffers form_of_buffers(const OneBitCodec& codec, const Layout& layout, int workers) {
    const auto encoded = std::make_shared<const Layout>(encoded_tensors(layout));
    return codec.fused && encoded->entries() > 0 ? fused_buffer(encoded, workers)
                                                 : buffer_per_tensor(encoded, workers);
}

Bytes form_of_left_out(const Layout& layout) {
    return {4 * (layout.entries() - encoded_tensors(layout).entries())};
}

Layout form_of_chunk(const Layout& layout, int k, int i) {
    const std::int64_t entries = layout.entries();
    const auto begin = [&](std::int64_t part) {
        return part * (entries / k) + std::max<std::int64_t>(0, part - k + entries % k);
    };
    return *part_of(layout, begin(i), begin(i + 1));
}

Bytes form_of_packed(const Compressor& compressor, const Layout& layout, WireFormat wire) {
    return compressor.lossless ? wire.weigh(layout.entries()) : form_of_packed(compressor, layout);
}

Duration total_time(const PieceForm& form) {
    Duration total{};
    for (const PieceStage& stage : all_stages(form)) total = sum(total, stage.time);
    return total;
}

std::optional<PieceForm> piece_form(const ExchangeOptions& options, const Layout& piece,
                                    std::int64_t passes, const StepModelInput& in, double density) {
    const Flat flat{options, piece, passes, in.workers, in.network, in.wire, density};
    if (in.network.islands != IslandLanes::none) return islands_form(flat);
    return options.aggregation.machines == ByMachine::flat ? flat_form(flat) : machines_form(flat);
}

}  // namespace paceline
