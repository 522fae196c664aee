#include "algorithms/exchange/piece.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "algorithms/runtime/worker.hpp"
#include "models/tensors/fragments.hpp"

namespace paceline {

namespace {

struct Range {
    std::int64_t begin;
    std::int64_t end;
};

Range charged_range(const Bucket& bucket, const Layout& charged) {
    return {charged.offset(bucket.first), charged.offset(bucket.first + bucket.count)};
}

// Returns the first tensor whose middle does not lie before `share` of the entries.
std::size_t first_behind(const Layout& layout, double share) {
    const double at = share * static_cast<double>(layout.entries());
    std::size_t tensor = 0;
    while (tensor < layout.tensors().size()) {
        const auto middle = static_cast<double>(layout.offset(tensor) + layout.offset(tensor + 1));
        if (middle / 2 >= at) break;
        ++tensor;
    }
    return tensor;
}

// Returns the entries of the model that belong to a range of the charged layout.
Range values_of(Range range, const Layout& layout, const Layout& charged) {
    if (&layout == &charged) return range;
    const auto all = static_cast<double>(charged.entries());
    const std::size_t begin = first_behind(layout, static_cast<double>(range.begin) / all);
    const std::size_t end = range.end == charged.entries()
                                ? layout.tensors().size()
                                : first_behind(layout, static_cast<double>(range.end) / all);
    return {layout.offset(begin), layout.offset(end)};
}

// Returns the i-th of n nearly equal parts of a range.
Range portion(Range range, std::int64_t i, std::int64_t n) {
    const std::int64_t entries = range.end - range.begin;
    return {range.begin + entries * i / n, range.begin + entries * (i + 1) / n};
}

}  // namespace

Piece whole_piece(LayoutPtr layout, LayoutPtr charged, std::size_t buckets) {
    return {0, buckets - 1, 0, std::move(layout), std::move(charged)};
}

std::vector<Piece> cut_pieces(const LayoutPtr& layout, const LayoutPtr& charged,
                              const std::vector<Bucket>& buckets,
                              std::optional<std::int64_t> partition, LayoutParts& layouts) {
    std::vector<Piece> pieces;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const Range weighs = charged_range(buckets[b], *charged);
        const Range holds = values_of(weighs, *layout, *charged);
        const std::int64_t entries = weighs.end - weighs.begin;
        const std::int64_t parts =
            partition ? std::max<std::int64_t>(1, (entries + *partition - 1) / *partition) : 1;
        for (std::int64_t i = 0; i < parts; ++i) {
            const Range charge = portion(weighs, i, parts);
            const Range values = layout == charged ? charge : portion(holds, i, parts);
            pieces.push_back({pieces.size(), b, values.begin,
                              layouts.part_of(layout, values.begin, values.end),
                              layouts.part_of(charged, charge.begin, charge.end)});
        }
    }
    return pieces;
}

std::vector<Piece> fragments_of(const Worker& self, std::size_t count,
                                const std::vector<TensorChoice>& left_out) {
    LayoutParts& layouts = self.layouts();
    const LayoutPtr charged = layouts.with_left_out(self.charged_layout(), left_out);
    const LayoutPtr layout =
        self.stands_in() ? layouts.with_left_out(self.current_model().layout(), left_out) : charged;
    std::vector<Bucket> runs;
    for (const TensorRun& run : fragments(*charged, count))
        runs.push_back({run.first, run.count, Duration::zero()});
    return cut_pieces(layout, charged, runs, std::nullopt, layouts);
}

std::vector<Piece> pieces_of(const Worker& self, const ExchangeSchedule& schedule,
                             const std::vector<TensorChoice>& left_out) {
    LayoutParts& layouts = self.layouts();
    const LayoutPtr charged = layouts.with_left_out(self.charged_layout(), left_out);
    const LayoutPtr layout =
        self.stands_in() ? layouts.with_left_out(self.current_model().layout(), left_out) : charged;
    const std::vector<Bucket>& buckets = self.timing().buckets;
    if (schedule.whole && !schedule.partition)
        return {whole_piece(layout, charged, buckets.size())};
    std::optional<std::int64_t> entries;
    if (schedule.partition)
        entries = std::max<std::int64_t>(1, schedule.partition->count / self.wire().weigh(1).count);
    return cut_pieces(layout, charged, buckets, entries, layouts);
}

Vector part_of(const Vector& whole, const Piece& piece) {
    if (!whole.has_values()) return Vector(piece.layout);
    if (piece.layout == whole.layout()) return whole;
    return {piece.layout, whole.values().segment(piece.offset, piece.layout->entries())};
}

void put_part(const Vector& part, const Piece& piece, Vector& whole) {
    if (!part.has_values()) return;
    whole.writable().segment(piece.offset, part.entries()) = part.values();
}

}  // namespace paceline
