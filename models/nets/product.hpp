// Products with one side in lanes: the inner loops of all nets.
//
//   multiply       C(i, :) = start + sum over k of A(i, k) B(k, :)    rows of B, C are contiguous
//   correlate_3x3  G(o, t) += sum over pixels p, lanes of D(o, p) X(p moved by tap t)
//
// multiply broadcasts A, which may have any strides: it is read where it lies, row by row or column
// by column, and never packed. A tile of C of 12 x 2 vectors stays in registers (24 sums in flight,
// which hides the latency of a fused multiply-add; 14 loads for 24 of them). This needs B to be
// narrow, as a panel of 32 lanes is, or few rows deep, as the batch is in a weight's gradient: then
// B stays in the cache while A streams by. For large square matrices a library's product is better.
//
// Written with Eigen's packets (Eigen 3.4: internal, but the one portable way to say fused
// multiply-add), so that it follows the instruction set that the file is compiled for.
#pragma once

#include <cstdint>

#include <Eigen/Core>

namespace paceline {

/// A matrix somewhere in memory: entry (i, k) is at data[i * row + k * column].
template <class Scalar>
struct Strided {
    const Scalar* data;
    Eigen::Index row;
    Eigen::Index column;
};

/// What the sum of a product starts from.
enum class Start : std::uint8_t {
    zero,
    bias,  // one number per row of C
    sum,   // what C holds
};

enum class Finish : std::uint8_t { plain, relu };

/// What happens around a product.
template <class Scalar>
struct ProductEnds {
    Start start = Start::zero;
    const Scalar* bias = nullptr;
    Finish finish = Finish::plain;
};

/// C = A B for `rows` x `columns` entries of C and `depth` products each. c_row and b_row are the
/// distances of rows. C overlaps neither A nor B.
template <class Scalar>
void multiply(Eigen::Index rows, Eigen::Index columns, Eigen::Index depth, Strided<Scalar> a,
              const Scalar* b, Eigen::Index b_row, Scalar* c, Eigen::Index c_row,
              ProductEnds<Scalar> ends = {});

/// The same for the 32 columns of a panel, with row k of B at b[b_rows[k]].
template <class Scalar>
void multiply_gathered(Eigen::Index rows, Eigen::Index depth, Strided<Scalar> a, const Scalar* b,
                       const Eigen::Index* b_rows, Scalar* c, Eigen::Index c_row,
                       ProductEnds<Scalar> ends = {});

/// The pixels of one channel of errors; neighbors are 32 lanes apart.
struct ErrorGrid {
    Eigen::Index height;
    Eigen::Index width;
    Eigen::Index row;  // distance of rows
};

/// What the first tap of a 3 x 3 kernel sees from those pixels.
struct InputGrid {
    Eigen::Index row;      // between neighboring rows of errors
    Eigen::Index pixel;    // between neighboring errors of a row
    Eigen::Index tap_row;  // between the rows of taps
};

/// Adds to g[o * g_row + t], for each row o of D and the nine taps t of a 3 x 3 kernel, the sum
/// over pixels and lanes of D(o, pixel) X(pixel moved by the tap). Rows of D are d_row apart.
template <class Scalar>
void correlate_3x3(Eigen::Index rows, const Scalar* d, Eigen::Index d_row, const ErrorGrid& grid,
                   const Scalar* x, const InputGrid& seen, Scalar* g, Eigen::Index g_row);

}  // namespace paceline
