#include "algorithms/runtime/sparse_round.hpp"

#include <algorithm>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/schedule.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Bytes lighter(std::int64_t sent, std::int64_t entries, const SparseFormat& format) {
    return std::min(sent * Bytes{format.bytes_per_entry},
                    entries * Bytes{format.bytes_per_dense_entry});
}

// Returns the bytes of the compressible tensors of `layout` at a density that was measured on
// another layout.
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

Bytes SparseRound::weigh(const Support& support, std::int64_t contributions) const {
    const Layout& charged = *packing_.charged;
    Bytes bytes;
    if (packing_.charged == layout_) {
        bytes = bytes_of_support(*layout_, support, packing_.format);
    } else {
        const double density = static_cast<double>(compressible_count(support)) /
                               static_cast<double>(compressible_entries_);
        bytes = bytes_at_density(charged, density, packing_.format);
    }
    if (packing_.carries_rest)
        bytes += contributions * uncompressed_bytes(charged, packing_.format);
    return bytes;
}

Bytes SparseRound::contribution_bytes(std::size_t member) {
    std::optional<Bytes>& bytes = contribution_bytes_[member];
    if (!bytes) {
        Support support(layout_->entries());
        support.insert(of(member));
        bytes = weigh(support, 1);
    }
    return *bytes;
}

// Merges the two halves of a block of survivors. In step 0 the block is one survivor, and its
// support is that of the one or two contributions that the survivor stands for.
Support SparseRound::merge(int first, int step) {
    const Fold fold(static_cast<int>(entered_.size()));
    if (step > 0) {
        std::optional<Support>& half = block(first, step - 1).support;
        Support merged = std::move(half.value());
        half.reset();
        std::optional<Support>& other = block(first + (1 << (step - 1)), step - 1).support;
        merged.merge(other.value());
        other.reset();
        return merged;
    }
    Support support(layout_->entries());
    const auto place = static_cast<std::size_t>(fold.place(first));
    support.insert(of(place));
    if (fold.stands_for_two(first)) support.insert(of(place - 1));
    return support;
}

SparseRound::Block& SparseRound::block(int first, int step) {
    const auto found = blocks_.find({step, first});
    if (found != blocks_.end()) return found->second;
    const Fold fold(static_cast<int>(entered_.size()));
    Support support = merge(first, step);
    const Bytes bytes = weigh(support, fold.contributions(first, step));
    return blocks_.emplace(std::pair{step, first}, Block{std::move(support), bytes}).first->second;
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
    for (std::size_t member = 0; member < entered_.size(); ++member) {
        const std::vector<std::int64_t>& positions = of(member).positions;
        for (std::size_t j = 0; j < layout_->tensors().size(); ++j)
            if (layout_->tensors()[j].compressible())
                sent += std::ranges::lower_bound(positions, layout_->offset(j + 1)) -
                        std::ranges::lower_bound(positions, layout_->offset(j));
    }
    const Fold fold(static_cast<int>(entered_.size()));
    const std::int64_t merged = compressible_count(block(0, fold.steps).support.value());
    const auto entries = static_cast<double>(compressible_entries_);
    return {static_cast<double>(sent) / (entries * static_cast<double>(entered_.size())),
            static_cast<double>(merged) / entries, 1};
}

Task<> sparse_messages(SparseRound& round, Rank rank, SparseExchange how) {
    if (how == SparseExchange::recursive_doubling) {
        const UnionWeight weight = [&round](const Union& merged) {
            return round.union_bytes(merged);
        };
        co_await sparse_all_reduce(std::move(rank), weight);
    } else {
        const BlockWeight weight = [&round](int from) {
            return round.contribution_bytes(static_cast<std::size_t>(from));
        };
        const auto gather =
            how == SparseExchange::all_gather_ring ? AllGather::ring : AllGather::bruck;
        co_await all_gather(gather, std::move(rank), weight);
    }
}

}  // namespace paceline
