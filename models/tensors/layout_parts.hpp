// Layouts that are made of others, each made once: a thousand workers share the layouts of their
// pieces, instead of holding as many copies of all names and shapes.
//
// Cost: a look at what has been made, in O(log of it). Not for use by several threads at a time.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "models/tensors/layout.hpp"

namespace paceline {

class LayoutParts {
  public:
    /// Return what the functions of these names do (layout.hpp), and the same pointer for the same
    /// arguments.
    LayoutPtr part_of(const LayoutPtr& layout, std::int64_t begin, std::int64_t end);
    LayoutPtr with_left_out(const LayoutPtr& layout, const std::vector<TensorChoice>& choices);
    LayoutPtr without_left_out(const LayoutPtr& layout);

  private:
    // Keys hold the layouts, so that no other one can come to have their addresses.
    std::map<std::tuple<LayoutPtr, std::int64_t, std::int64_t>, LayoutPtr> parts_;
    std::map<std::pair<LayoutPtr, std::vector<TensorChoice>>, LayoutPtr> with_;
    std::map<LayoutPtr, LayoutPtr> without_;
};

}  // namespace paceline
