// Fragments: the tensors of a layout as P runs, in order, of as nearly equal sizes as whole tensors
// allow.
//
//   run p ends before the first tensor whose middle does not lie before (p+1)/P of all entries,
//   and the last run has the rest
//
// A tensor that is larger than a share leaves runs without tensors; so does a P above the number of
// tensors.
#pragma once

#include <cstddef>
#include <vector>

#include "models/tensors/layout.hpp"

namespace paceline {

/// Tensors first .. first+count-1.
struct TensorRun {
    std::size_t first;
    std::size_t count;
};

/// Requires count >= 1.
std::vector<TensorRun> fragments(const Layout& layout, std::size_t count);

}  // namespace paceline
