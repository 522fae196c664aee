// What sparse messages weigh and how long selecting takes, each worked out once for all workers of
// a job: a message of each of a thousand workers asks for the same.
//
// Cost: a look at what has been worked out, in O(log of it). Not for use by several threads at a
// time.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "algorithms/compression/sparse/selection.hpp"
#include "algorithms/compression/sparse/sparse.hpp"

namespace paceline {

/// What the sizes of messages and the time of selection follow from, besides the layout.
struct SparseRule {
    double density = 1;
    bool whole = false;  // messages hold the uncompressed tensors, too
    DensityLaw law = DensityLaw::independent;
    SparseFormat format{};
    SelectionCost selection{};

    auto operator<=>(const SparseRule&) const = default;
};

class SparseSizes {
  public:
    SparseSizes(LayoutPtr layout, const SparseRule& rule)
        : layout_(std::move(layout)), rule_(rule) {}

    [[nodiscard]] const Layout& layout() const { return *layout_; }
    /// Returns the weight of one message without values that carries a union of `contributions`.
    Bytes of_union(int contributions);
    Duration selection_time();

  private:
    LayoutPtr layout_;
    SparseRule rule_;
    std::optional<Duration> selection_time_;
    std::map<int, Bytes> unions_;  // by contributions
};
using SparseSizesPtr = std::shared_ptr<SparseSizes>;

/// The sizes that the workers of a job share.
class SharedSparseSizes {
  public:
    /// Returns the same pointer for the same arguments.
    SparseSizesPtr of(const LayoutPtr& layout, const SparseRule& rule);

  private:
    std::map<std::pair<LayoutPtr, SparseRule>, SparseSizesPtr> sizes_;
};

}  // namespace paceline
