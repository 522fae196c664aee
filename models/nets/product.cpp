#include "models/nets/product.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "models/nets/lanes.hpp"

namespace paceline {

namespace {

namespace packet = Eigen::internal;
using Eigen::Index;

template <class Scalar>
using Packet = typename packet::packet_traits<Scalar>::type;

template <class Scalar>
constexpr Index packet_size = packet::packet_traits<Scalar>::size;

// Registers are plain arrays below: std::array drops the attributes of a vector type (GCC warns).
constexpr Index vectors = 2;
// Sums, a vector of B for each column of them and a broadcast fit the registers.
constexpr Index tallest = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32 ? 12 : 6;

template <class Scalar>
constexpr Index tile_width = vectors * packet_size<Scalar>;

struct LinearRows {
    Index distance;
    Index operator()(Index k) const { return k * distance; }
};

struct GatheredRows {
    const Index* rows;
    Index operator()(Index k) const { return rows[k]; }
};

// A tile of C, `Height` rows by two vectors.
template <class Scalar, Index Height, class Rows>
void tile(Index depth, Strided<Scalar> a, const Scalar* b, Rows b_row, Scalar* c, Index c_row,
          const ProductEnds<Scalar>& ends) {
    using P = Packet<Scalar>;
    constexpr Index size = packet_size<Scalar>;
    P sums[Height][vectors];  // NOLINT(modernize-avoid-c-arrays)
    for (Index i = 0; i < Height; ++i)
        for (Index v = 0; v < vectors; ++v) {
            if (ends.start == Start::sum)
                sums[i][v] = packet::ploadu<P>(c + i * c_row + v * size);
            else
                sums[i][v] = packet::pset1<P>(ends.start == Start::bias ? ends.bias[i] : Scalar{0});
        }
    for (Index k = 0; k < depth; ++k) {
        const Scalar* row = b + b_row(k);
        const Scalar* column = a.data + k * a.column;
        P loaded[vectors];  // NOLINT(modernize-avoid-c-arrays)
        for (Index v = 0; v < vectors; ++v) loaded[v] = packet::ploadu<P>(row + v * size);
        for (Index i = 0; i < Height; ++i) {
            const P broadcast = packet::pset1<P>(column[i * a.row]);
            for (Index v = 0; v < vectors; ++v)
                sums[i][v] = packet::pmadd(broadcast, loaded[v], sums[i][v]);
        }
    }
    if (ends.finish == Finish::relu)
        for (Index i = 0; i < Height; ++i)
            for (Index v = 0; v < vectors; ++v)
                sums[i][v] =
                    packet::pmax<Eigen::PropagateNaN>(sums[i][v], packet::pzero(sums[i][v]));
    for (Index i = 0; i < Height; ++i)
        for (Index v = 0; v < vectors; ++v) packet::pstoreu(c + i * c_row + v * size, sums[i][v]);
}

template <class Scalar, class Rows>
using Tile = void (*)(Index, Strided<Scalar>, const Scalar*, Rows, Scalar*, Index,
                      const ProductEnds<Scalar>&);

template <class Scalar, class Rows, std::size_t... Heights>
constexpr std::array<Tile<Scalar, Rows>, sizeof...(Heights)> tiles_of(
    std::index_sequence<Heights...>) {
    return {&tile<Scalar, static_cast<Index>(Heights) + 1, Rows>...};
}

// Rows are split evenly: 16 are 8 + 8, not 12 + 4.
template <class Scalar, class Rows>
void multiply_strip(Index rows, Index depth, Strided<Scalar> a, const Scalar* b, Rows b_row,
                    Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    static constexpr auto tiles =
        tiles_of<Scalar, Rows>(std::make_index_sequence<static_cast<std::size_t>(tallest)>{});
    Index left = (rows + tallest - 1) / tallest;
    for (Index i = 0; i < rows; --left) {
        const Index height = (rows - i + left - 1) / left;
        tiles[static_cast<std::size_t>(height - 1)](depth, a, b, b_row, c, c_row, ends);
        a.data += height * a.row;
        c += height * c_row;
        if (ends.bias != nullptr) ends.bias += height;
        i += height;
    }
}

// Columns left over, fewer than a tile is wide: both B and C pass through tiles with zeros beside.
template <class Scalar>
void multiply_rest(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
                   Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index width = tile_width<Scalar>;
    constexpr Index deepest = 64;
    std::array<Scalar, static_cast<std::size_t>(deepest * width)> b_tile{};
    std::array<Scalar, static_cast<std::size_t>(tallest * width)> c_tile{};
    for (Index k = 0; k == 0 || k < depth; k += deepest) {
        const Index part = std::min(deepest, depth - k);
        for (Index row = 0; row < part; ++row)
            std::copy_n(b + (k + row) * b_row, columns, b_tile.data() + row * width);
        ProductEnds<Scalar> part_ends = ends;
        if (k > 0) part_ends.start = Start::sum;
        if (k + part < depth) part_ends.finish = Finish::plain;
        for (Index i = 0; i < rows; i += tallest) {
            const Index height = std::min(tallest, rows - i);
            for (Index row = 0; row < height; ++row)
                std::copy_n(c + (i + row) * c_row, columns, c_tile.data() + row * width);
            multiply_strip(height, part, {a.data + i * a.row + k * a.column, a.row, a.column},
                           b_tile.data(), LinearRows{width}, c_tile.data(), width, part_ends);
            for (Index row = 0; row < height; ++row)
                std::copy_n(c_tile.data() + row * width, columns, c + (i + row) * c_row);
            if (part_ends.bias != nullptr) part_ends.bias += height;
        }
    }
}

}  // namespace

template <class Scalar>
void multiply(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
              Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index width = tile_width<Scalar>;
    Index j = 0;
    for (; j + width <= columns; j += width)
        multiply_strip(rows, depth, a, b + j, LinearRows{b_row}, c + j, c_row, ends);
    if (j < columns) multiply_rest(rows, columns - j, depth, a, b + j, b_row, c + j, c_row, ends);
}

template <class Scalar>
void multiply_gathered(Index rows, Index depth, Strided<Scalar> a, const Scalar* b,
                       const Index* b_rows, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    for (Index j = 0; j < lanes; j += tile_width<Scalar>)
        multiply_strip(rows, depth, a, b + j, GatheredRows{b_rows}, c + j, c_row, ends);
}

namespace {

// Two rows of D against nine taps are 18 sums, which takes 32 registers.
constexpr Index correlated = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32 ? 2 : 1;
constexpr Index taps = 9;

template <class Scalar, Index Height>
void correlate_rows(const Scalar* d, Index d_row, const ErrorGrid& grid, const Scalar* x,
                    const InputGrid& seen, Scalar* g, Index g_row) {
    using P = Packet<Scalar>;
    P sums[Height][taps];  // NOLINT(modernize-avoid-c-arrays)
    for (auto& row : sums)
        for (P& sum : row) sum = packet::pset1<P>(Scalar{0});
    for (Index y = 0; y < grid.height; ++y)
        for (Index pixel = 0; pixel < grid.width; ++pixel)
            for (Index lane = 0; lane < lanes; lane += packet_size<Scalar>) {
                const Scalar* here = d + y * grid.row + pixel * lanes + lane;
                const Scalar* there = x + y * seen.row + pixel * seen.pixel + lane;
                P error[Height];  // NOLINT(modernize-avoid-c-arrays)
                for (Index i = 0; i < Height; ++i) error[i] = packet::ploadu<P>(here + i * d_row);
                for (Index tap = 0; tap < taps; ++tap) {
                    const P input =
                        packet::ploadu<P>(there + (tap / 3) * seen.tap_row + (tap % 3) * lanes);
                    for (Index i = 0; i < Height; ++i)
                        sums[i][tap] = packet::pmadd(error[i], input, sums[i][tap]);
                }
            }
    for (Index i = 0; i < Height; ++i)
        for (Index tap = 0; tap < taps; ++tap) g[i * g_row + tap] += packet::predux(sums[i][tap]);
}

}  // namespace

template <class Scalar>
void correlate_3x3(Index rows, const Scalar* d, Index d_row, const ErrorGrid& grid, const Scalar* x,
                   const InputGrid& seen, Scalar* g, Index g_row) {
    Index i = 0;
    for (; i + correlated <= rows; i += correlated)
        correlate_rows<Scalar, correlated>(d + i * d_row, d_row, grid, x, seen, g + i * g_row,
                                           g_row);
    for (; i < rows; ++i)
        correlate_rows<Scalar, 1>(d + i * d_row, d_row, grid, x, seen, g + i * g_row, g_row);
}

template void multiply(Index, Index, Index, Strided<float>, const float*, Index, float*, Index,
                       ProductEnds<float>);
template void multiply(Index, Index, Index, Strided<double>, const double*, Index, double*, Index,
                       ProductEnds<double>);
template void multiply_gathered(Index, Index, Strided<float>, const float*, const Index*, float*,
                                Index, ProductEnds<float>);
template void multiply_gathered(Index, Index, Strided<double>, const double*, const Index*, double*,
                                Index, ProductEnds<double>);
template void correlate_3x3(Index, const float*, Index, const ErrorGrid&, const float*,
                            const InputGrid&, float*, Index);
template void correlate_3x3(Index, const double*, Index, const ErrorGrid&, const double*,
                            const InputGrid&, double*, Index);

}  // namespace paceline
