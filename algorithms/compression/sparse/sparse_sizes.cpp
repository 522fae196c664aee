#include "algorithms/compression/sparse/sparse_sizes.hpp"

namespace paceline {

Bytes SparseSizes::of_union(int contributions) {
    const auto [found, is_new] = unions_.try_emplace(contributions);
    if (!is_new) return found->second;
    found->second = sparse_bytes(*layout_, rule_.density, contributions, rule_.law, rule_.format);
    if (rule_.whole) found->second += contributions * uncompressed_bytes(*layout_, rule_.format);
    return found->second;
}

Duration SparseSizes::selection_time() {
    if (!selection_time_)
        selection_time_ = paceline::selection_time(rule_.selection, *layout_, rule_.density);
    return *selection_time_;
}

SparseSizesPtr SharedSparseSizes::of(const LayoutPtr& layout, const SparseRule& rule) {
    SparseSizesPtr& sizes = sizes_[{layout, rule}];
    if (sizes == nullptr) sizes = std::make_shared<SparseSizes>(layout, rule);
    return sizes;
}

}  // namespace paceline
