// How long the layers of a gradient take that computes activations again (models/recompute.hpp).
//
//   forward f_l   m_l               of a gradient's 3 M, which it takes without recomputation
//   backward b_l  2 m_l + r_l       r_l = m_l of what is computed again, 0 of the rest
//   factor        1 + R / (3 M)     by which the gradient takes longer
//
//   symbol     meaning
//   m_l, M     forward multiply-accumulates of layer l, and of all layers
//   r_l, R     those that backward computes again
//
// For a transformer whose layers are all recomputed, without embedding and output, the factor is
// 4/3: 96 B s l h^2 operations in place of 72 (Narayanan et al., SC 2021, arXiv 2104.04473, whose
// output is not recomputed either). Work of other kinds, such as softmax and dropout, is not
// counted: selective recomputation takes longer than this says where they weigh.
#pragma once

#include "models/profile.hpp"
#include "models/recompute.hpp"
#include "models/tensor_times.hpp"

namespace paceline {

struct RecomputedTimes {
    TensorTimes times;  // in proportion
    double factor = 1;
};

/// Requires a profile with multiply-accumulates.
RecomputedTimes recomputed_times(const Profile& profile, Recompute recompute);

}  // namespace paceline
