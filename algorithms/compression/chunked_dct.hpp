// The discrete cosine transform of a tensor, chunk by chunk.
//
// X is a chunk of h x w (tensor_chunks.hpp):
//
//   Y = A_h X A_w^T,   X = A_h^T Y A_w,   A_c[b][j] = s_b cos(pi (2j+1) b / (2c)),  s_0 =
//                                         sqrt(1/c), s_b = sqrt(2/c)
//
// A is orthonormal (DCT-II), so |X| = |Y|. Component (a, b) of a chunk stands where its entry (a,
// b) stood. Cosines that are 0 are 0 here, too: signs of what a transform returns may count. O(h +
// w) products per entry. Source of the form: that of the chunks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <Eigen/Core>

#include "models/tensors/layout.hpp"

namespace paceline {

class ChunkedDct {
  public:
    ChunkedDct(LayoutPtr layout, std::int64_t side);

    /// Replaces all tensors by their components, and components by tensors. Requires as many
    /// entries as the layout has.
    void transform(Eigen::VectorXd& v) const { apply(v, true); }
    void inverse(Eigen::VectorXd& v) const { apply(v, false); }
    /// Sets all but the k largest components of each chunk to zero; ties go to the first. Leaves a
    /// chunk that is not finite as it is.
    void keep_largest(Eigen::VectorXd& components, std::int64_t k) const;

  private:
    struct Basis {
        std::vector<double> cosines;     // A, by rows
        std::vector<double> transposed;  // A^T
    };

    void apply(Eigen::VectorXd& v, bool forward) const;
    // Returns A by columns, or A^T.
    [[nodiscard]] const double* basis(std::int64_t size, bool forward) const {
        const Basis& both = bases_.at(size);
        return (forward ? both.transposed : both.cosines).data();
    }

    LayoutPtr layout_;
    std::int64_t side_;
    std::map<std::int64_t, Basis> bases_;
};

}  // namespace paceline
