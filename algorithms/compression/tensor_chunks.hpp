// Tensors in chunks, of each of which a few entries are sent.
//
// A tensor is a matrix of R rows (its first dimension) and C columns (the others), or one row if it
// has one dimension. It is cut into chunks of h x w: h is the largest divisor of R up to `side`, w
// that of C. A prime number of rows makes chunks of one row.
//
// Source: released code of DeMo (bloc97/DeMo, demo.py), as far as its copies in other repositories
// show; these take tensors of two dimensions, and more are a matter of this project.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

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

/// Returns how many entries are sent of a tensor: k of each chunk, or all of a smaller one.
std::int64_t kept_of_chunks(const Tensor& tensor, std::int64_t side, std::int64_t k);

/// Calls use(first entry of a chunk) for each; rows of a chunk are `columns` apart.
template <class Use>
void for_each_chunk(const TensorChunks& chunks, Use use) {
    if (chunks.count() == 0) return;
    for (std::int64_t r = 0; r < chunks.rows; r += chunks.height)
        for (std::int64_t c = 0; c < chunks.columns; c += chunks.width) use(r * chunks.columns + c);
}

/// Copies a chunk whose rows are `from_row` apart.
inline void copy_chunk(const double* from, std::int64_t from_row, double* to, std::int64_t to_row,
                       const TensorChunks& chunks) {
    for (std::int64_t r = 0; r < chunks.height; ++r)
        std::copy_n(from + r * from_row, chunks.width, to + r * to_row);
}

/// Sets all but the k largest entries of each chunk to zero; ties go to the first. Leaves a chunk
/// that is not finite as it is.
void keep_largest_of_chunks(std::span<double> tensor, const TensorChunks& chunks, std::int64_t k);

}  // namespace paceline
