#include "models/tensors/layout_parts.hpp"

namespace paceline {

LayoutPtr LayoutParts::part_of(const LayoutPtr& layout, std::int64_t begin, std::int64_t end) {
    LayoutPtr& part = parts_[{layout, begin, end}];
    if (part == nullptr) part = paceline::part_of(*layout, begin, end);
    return part;
}

LayoutPtr LayoutParts::with_left_out(const LayoutPtr& layout,
                                     const std::vector<TensorChoice>& choices) {
    if (choices.empty()) return layout;
    LayoutPtr& with = with_[{layout, choices}];
    if (with == nullptr) with = paceline::with_left_out(layout, choices);
    return with;
}

LayoutPtr LayoutParts::without_left_out(const LayoutPtr& layout) {
    LayoutPtr& without = without_[layout];
    if (without == nullptr) without = paceline::without_left_out(layout);
    return without;
}

}  // namespace paceline
