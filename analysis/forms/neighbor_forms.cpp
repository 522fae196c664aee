#include "analysis/forms/neighbor_forms.hpp"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "analysis/forms/aggregation_forms.hpp"
#include "analysis/forms/inside_forms.hpp"
#include "analysis/forms/schedule_forms.hpp"

namespace paceline {

namespace {

struct SentPiece {
    std::size_t bucket;
    Bytes dense;
    Bytes message;
    Duration coding{};  // K
};

struct Neighbors {
    const ExchangeOptions& options;
    const Compressor& compressor;
    const Mixing& mixing;
    const StepModelInput& in;

    [[nodiscard]] bool flat() const { return options.aggregation.machines == ByMachine::flat; }

    [[nodiscard]] std::optional<Duration> messages_time(Bytes size,
                                                        const IdleNetwork& network) const {
        return neighbor_messages_time(mixing, size, network);
    }
    [[nodiscard]] SentPiece piece(std::size_t bucket, const Layout& layout) const {
        const Duration coding =
            compressor.lossless ? Duration{}
                                : sum(encoding_time(compressor, options.codec.coding, layout),
                                      decoding_time(compressor, options.codec.coding, layout, 1));
        return {bucket, fp32.weigh(layout.entries()), form_of_packed(compressor, layout, in.wire),
                coding};
    }
    [[nodiscard]] std::vector<SentPiece> pieces() const {
        const Layout layout = *with_left_out(in.layout, options.codec.leave_out);
        const std::vector<Bucket>& buckets = in.timing.buckets;
        if (options.schedule.whole) return {piece(buckets.size() - 1, layout)};
        std::vector<SentPiece> all;
        for (std::size_t b = 0; b < buckets.size(); ++b)
            all.push_back(piece(b, *part_of(layout, layout.offset(buckets[b].first),
                                            layout.offset(buckets[b].first + buckets[b].count))));
        return all;
    }
};

// Returns when each piece is coded.
std::vector<Duration> coded_at(const Neighbors& n, const std::vector<SentPiece>& pieces) {
    std::vector<Duration> times;
    if (n.options.schedule.begin == Begin::beside_backward) {
        Duration device{};
        Duration begin{};  // of the segment, in time of backward
        for (const SentPiece& piece : pieces) {
            const Duration ready = n.in.timing.buckets[piece.bucket].ready;
            device = sum(device, sum(ready - begin, piece.coding));
            begin = ready;
            times.push_back(device);
        }
        return times;
    }
    Duration all = n.in.timing.step;
    for (const SentPiece& piece : pieces) all = sum(all, piece.coding);
    times.assign(pieces.size(), all);
    return times;
}

std::optional<Duration> flat_end(const Neighbors& n) {
    const std::vector<SentPiece> pieces = n.pieces();
    const std::vector<Duration> coded = coded_at(n, pieces);
    Duration end{};
    Bytes left;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        left += pieces[i].message;
        const std::optional<Duration> messages = n.messages_time(left, n.in.network);
        if (!messages) return std::nullopt;
        end = std::max(end, sum(coded[i], *messages));
    }
    return end;
}

std::optional<Duration> end_by_leaders(const Neighbors& n, const StepTiming& timing) {
    const int g = n.options.aggregation.devices;
    if (g > 1 && !n.in.network.bus) return std::nullopt;
    if (g != n.in.network.devices) return std::nullopt;  // groups of a level above the machine
    const IdleStar bus = n.in.network.bus.value_or(n.in.network.star);
    const IdleNetwork between = between_leaders(n.in.network);
    std::vector<ScheduledPiece> scheduled;
    for (const SentPiece& piece : n.pieces()) {
        const std::optional<Duration> messages = n.messages_time(piece.message, between);
        if (!messages) return std::nullopt;
        const Duration inside = inside_machine_time(g, piece.dense, bus);
        PieceForm form{{}, {{false, inside}}, {}};
        if (!n.compressor.lossless) form.travel.push_back({true, piece.coding});
        form.travel.push_back({false, sum(*messages, inside)});
        scheduled.push_back({piece.bucket, form});
    }
    return end_of_pieces(timing, n.options.schedule, scheduled);
}

}  // namespace

std::optional<Duration> neighbor_messages_time(const Mixing& mixing, Bytes size,
                                               const IdleNetwork& network) {
    StepModelInput alone{mixing.nodes(), network, {}, {}, {}, WireFormat{1}};
    alone.layout = std::make_shared<const Layout>(std::vector<Tensor>{{"message", {size.count}}});
    return neighbor_step_time(mixing, 1, false, alone);
}

std::optional<Duration> neighbor_exchange_step_time(const ExchangeOptions& options,
                                                    const Mixing& mixing, int vectors, bool beside,
                                                    const StepModelInput& in) {
    const auto* const compressor = std::get_if<Compressor>(&options.codec.coder);
    if (compressor == nullptr) return std::nullopt;
    const Neighbors n{options, *compressor, mixing, in};
    if (n.flat() && compressor->lossless && (beside || options.schedule.whole))
        return neighbor_step_time(mixing, vectors, beside, in);
    if (in.network.islands != IslandLanes::none) return std::nullopt;
    if (vectors != 1) return std::nullopt;
    if (beside && (n.flat() || !options.schedule.whole || !compressor->lossless))
        return std::nullopt;
    StepTiming timing = in.timing;
    if (beside) timing.step = {};
    const std::optional<Duration> end = n.flat() ? flat_end(n) : end_by_leaders(n, timing);
    if (!end) return std::nullopt;
    return sum(beside ? std::max(in.timing.step, *end) : *end, in.update);
}

std::int64_t neighbor_exchange_messages(const ExchangeOptions& options, std::int64_t edges,
                                        int vectors, const StepModelInput& in) {
    const auto pieces = options.schedule.whole
                            ? std::int64_t{1}
                            : static_cast<std::int64_t>(in.timing.buckets.size());
    std::int64_t messages = edges;
    if (options.aggregation.machines != ByMachine::flat) {
        const std::int64_t g = options.aggregation.devices;
        messages += in.workers / g * 2 * (g * (g - 1) + g - 1);
    }
    return vectors * pieces * messages;
}

}  // namespace paceline
