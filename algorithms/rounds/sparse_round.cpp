#include "algorithms/rounds/sparse_round.hpp"

#include <algorithm>

#include "sim/collectives/chunks.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Bytes lighter(std::int64_t sent, std::int64_t entries, const SparseFormat& format) {
    return std::min(sent * Bytes{format.bytes_per_entry},
                    entries * Bytes{format.bytes_per_dense_entry});
}

// Returns the bytes of the compressible tensors of `layout` at a density.
Bytes bytes_at_density(const Layout& layout, double density, const SparseFormat& format) {
    Bytes sum;
    if (density == 0) return sum;
    for (const Tensor& tensor : layout.tensors())
        if (tensor.compressible())
            sum += lighter(kept_entries(tensor.entries(), density), tensor.entries(), format);
    return sum;
}

Bytes bytes_of_support(const Layout& layout, const Support& support, const SparseFormat& format) {
    Bytes sum;
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        if (!layout.tensors()[j].compressible()) continue;
        const std::int64_t first = layout.offset(j);
        const std::int64_t n = layout.tensors()[j].entries();
        sum += lighter(support.count(first, first + n), n, format);
    }
    return sum;
}

Bytes bytes_of_all(const SparsePacking& packing, const Layout& layout) {
    const Layout& charged = packing.charged == nullptr ? layout : *packing.charged;
    return charged.entries() * Bytes{packing.format.bytes_per_dense_entry};
}

}  // namespace

SparseRound::SparseRound(std::size_t members, LayoutPtr layout, SparsePacking packing)
    : layout_(std::move(layout)),
      packing_(std::move(packing)),
      compressible_entries_(layout_->entries() - layout_->incompressible_entries()),
      entered_(members),
      contribution_bytes_(members) {
    if (packing_.charged == nullptr) packing_.charged = layout_;
    PACELINE_CHECK(packing_.charged == layout_ || compressible_entries_ > 0,
                   "a density is measured on a model with tensors that are compressed");
}

void SparseRound::enter(std::size_t member, SparseVector v) {
    PACELINE_CHECK(!entered_[member], "a member enters a round once");
    PACELINE_CHECK(v.positions.size() == v.values.size(), "each position has its value");
    PACELINE_CHECK(v.layout->entries() == layout_->entries(), "contributions have one layout");
    entered_[member] = std::move(v);
}

const SparseVector& SparseRound::of(std::size_t member) const {
    PACELINE_CHECK(entered_[member].has_value(), "a value is asked for after it has entered");
    return *entered_[member];
}

std::int64_t SparseRound::compressible_count(const Support& support) const {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < layout_->tensors().size(); ++j)
        if (layout_->tensors()[j].compressible())
            sum += support.count(layout_->offset(j), layout_->offset(j + 1));
    return sum;
}

std::int64_t SparseRound::compressible_sent(std::size_t member) const {
    const std::vector<std::int64_t>& positions = of(member).positions;
    std::int64_t sent = 0;
    for (std::size_t j = 0; j < layout_->tensors().size(); ++j)
        if (layout_->tensors()[j].compressible())
            sent += std::ranges::lower_bound(positions, layout_->offset(j + 1)) -
                    std::ranges::lower_bound(positions, layout_->offset(j));
    return sent;
}

Bytes SparseRound::weigh(const Merged& merged) const {
    const Layout& charged = *packing_.charged;
    Bytes bytes;
    if (packing_.charged == layout_) {
        bytes = bytes_of_support(*layout_, merged.support, packing_.format);
    } else if (merged.sent > 0) {
        const double growth = static_cast<double>(compressible_count(merged.support)) *
                              static_cast<double>(merged.contributions) /
                              static_cast<double>(merged.sent);
        bytes = bytes_at_density(charged, std::min(1.0, packing_.declared_density * growth),
                                 packing_.format);
    }
    if (packing_.carries_rest)
        bytes += merged.contributions * uncompressed_bytes(charged, packing_.format);
    return bytes;
}

Bytes SparseRound::dense_bytes() const {
    return bytes_of_all(packing_, *layout_);
}

void SparseRound::add_member(std::size_t member, Merged& to) const {
    to.support.insert(of(member));
    to.sent += compressible_sent(member);
    ++to.contributions;
}

Bytes SparseRound::contribution_bytes(std::size_t member) {
    std::optional<Bytes>& bytes = contribution_bytes_[member];
    if (!bytes) {
        Merged alone{Support(layout_->entries())};
        add_member(member, alone);
        bytes = weigh(alone);
    }
    return *bytes;
}

// Merges the two halves of a block of survivors. In step 0 the block is one survivor, and its
// support is that of the one or two contributions that the survivor stands for.
SparseRound::Merged SparseRound::merge(int first, int step) {
    const Fold fold(static_cast<int>(entered_.size()));
    if (step > 0) {
        std::optional<Merged>& half = block(first, step - 1).merged;
        Merged merged = std::move(half.value());
        half.reset();
        std::optional<Merged>& other = block(first + (1 << (step - 1)), step - 1).merged;
        merged.support.merge(other.value().support);
        merged.contributions += other->contributions;
        merged.sent += other->sent;
        other.reset();
        return merged;
    }
    Merged merged{Support(layout_->entries())};
    const auto place = static_cast<std::size_t>(fold.place(first));
    add_member(place, merged);
    if (fold.stands_for_two(first)) add_member(place - 1, merged);
    return merged;
}

SparseRound::Block& SparseRound::block(int first, int step) {
    const auto found = blocks_.find({step, first});
    if (found != blocks_.end()) return found->second;
    Merged merged = merge(first, step);
    const Bytes bytes = weigh(merged);
    return blocks_.emplace(std::pair{step, first}, Block{std::move(merged), bytes}).first->second;
}

Bytes SparseRound::union_bytes(const Union& merged) {
    if (merged.step < 0) return contribution_bytes(static_cast<std::size_t>(merged.block_first));
    return block(merged.block_first, merged.step).bytes;
}

const Vector& SparseRound::mean() {
    if (!mean_) {
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(layout_->entries());
        for (std::size_t member = 0; member < entered_.size(); ++member) add(of(member), sum);
        sum *= 1 / static_cast<double>(entered_.size());
        mean_.emplace(layout_, std::move(sum));
    }
    return *mean_;
}

MeasuredDensity SparseRound::measure() {
    if (compressible_entries_ == 0) return {};
    std::int64_t sent = 0;
    for (std::size_t member = 0; member < entered_.size(); ++member)
        sent += compressible_sent(member);
    const Fold fold(static_cast<int>(entered_.size()));
    const std::int64_t merged = compressible_count(block(0, fold.steps).merged.value().support);
    const auto entries = static_cast<double>(compressible_entries_);
    return {static_cast<double>(sent) / (entries * static_cast<double>(entered_.size())),
            static_cast<double>(merged) / entries, 1};
}

std::string_view name_of(const SparsePacking& packing, const Layout& layout) {
    if (!packing.dense) return "sparse all-reduce";
    return name_of(*packing.dense, bytes_of_all(packing, layout));
}

Task<> sparse_messages(SparseRound& round, Rank rank) {
    const SparsePacking& packing = round.packing();
    if (packing.dense) {
        co_await all_reduce(*packing.dense, std::move(rank), round.dense_bytes());
    } else if (packing.gather) {
        const BlockWeight weight = [&round](int from) {
            return round.contribution_bytes(static_cast<std::size_t>(from));
        };
        co_await all_gather(*packing.gather, std::move(rank), weight);
    } else {
        const UnionWeight weight = [&round](const Union& merged) {
            return round.union_bytes(merged);
        };
        co_await sparse_all_reduce(std::move(rank), weight);
    }
}

}  // namespace paceline
