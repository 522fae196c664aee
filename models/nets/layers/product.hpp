// Products with one side in lanes: the inner loops of all nets.
//
//   multiply       C(i, :) = start + sum over k of A(i, k) B(k, :)    rows of B, C are contiguous
//   correlate_3x3  G(o, t) += sum over pixels p, lanes of D(o, p) X(p moved by tap t)
//
// multiply broadcasts A, which may have any strides: A is read in place, row by row or column by
// column, and never packed. A tile of C of 12 x 2 vectors (6 x 2 with AVX2) stays in registers: 24
// sums in flight hide the latency of a fused multiply-add. This requires B to be narrow, like a
// panel of 32 lanes, or to have few rows, like the batch in a weight's gradient. Then B stays in
// the cache while A streams through. For large square matrices a library's product is better.
//
// The loops are kernels (models/kernels/kernels.hpp), which give the same bits on every instruction
// set.
#pragma once

#include "models/kernels/kernels.hpp"

namespace paceline {

/// Computes C = A B for `rows` x `columns` entries of C, each the sum of `depth` products. c_row
/// and b_row are the distances between rows. C must overlap neither A nor B.
template <class Scalar>
void multiply(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
              Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends = {}) {
    kernels<Scalar>().multiply(rows, columns, depth, a, b, b_row, c, c_row, ends);
}

/// Does the same for the 32 columns of a panel, with row k of B at b[b_rows[k]].
template <class Scalar>
void multiply_gathered(Index rows, Index depth, Strided<Scalar> a, const Scalar* b,
                       const Index* b_rows, Scalar* c, Index c_row, ProductEnds<Scalar> ends = {}) {
    kernels<Scalar>().multiply_gathered(rows, depth, a, b, b_rows, c, c_row, ends);
}

/// Adds to g[o * g_row + t], for each row o of D and the nine taps t of a 3 x 3 kernel, the sum
/// over pixels and lanes of D(o, pixel) X(pixel moved by the tap). Rows of D are d_row apart.
template <class Scalar>
void correlate_3x3(Index rows, const Scalar* d, Index d_row, const ErrorGrid& grid, const Scalar* x,
                   const InputGrid& seen, Scalar* g, Index g_row) {
    kernels<Scalar>().correlate_3x3(rows, d, d_row, grid, x, seen, g, g_row);
}

}  // namespace paceline
