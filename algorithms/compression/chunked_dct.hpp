// The discrete cosine transform of a tensor, chunk by chunk.
//
// A tensor is a matrix of R rows (its first dimension) and C columns (the others), or one row if it
// has one dimension. It is cut into chunks of h x w: h is the largest divisor of R up to `side`, w
// that of C. X is a chunk:
//
//   Y = A_h X A_w^T,   X = A_h^T Y A_w,   A_c[b][j] = s_b cos(pi (2j+1) b / (2c)),  s_0 =
//                                         sqrt(1/c), s_b = sqrt(2/c)
//
// A is orthonormal (DCT-II), so |X| = |Y|. Component (a, b) of a chunk stands where its entry (a,
// b) stood. Cosines that are 0 are 0 here, too: signs of what a transform returns may count. O(h +
// w) products per entry. Source of the form: released code of DeMo (bloc97/DeMo, demo.py), as far
// as its copies in other repositories show; these take tensors of two dimensions, and more are a
// matter of this project.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "algorithms/compression/sparse/top_k.hpp"
#include "models/tensors/layout.hpp"

namespace paceline {

/// Returns the largest divisor of n that is at most `most`. Requires n >= 1 and most >= 1.
std::int64_t divisor_up_to(std::int64_t n, std::int64_t most);

struct TensorChunks {
    std::int64_t rows, columns;  // of the tensor
    std::int64_t height, width;  // of a chunk

    [[nodiscard]] std::int64_t entries_of_one() const { return height * width; }
    [[nodiscard]] std::int64_t count() const {
        return entries_of_one() == 0 ? 0 : rows * columns / entries_of_one();
    }
};

TensorChunks chunks_of(const Tensor& tensor, std::int64_t side);

/// Returns how many components are sent of a tensor: k of each chunk, or all of a smaller one.
std::int64_t kept_components(const Tensor& tensor, std::int64_t side, std::int64_t k);

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
