// Products of matrices, correlations of 3 x 3 taps, and the dot product.
//
// A product passes through tiles, whose shape must fit the register file. It cannot change a bit,
// as entries do not mix.
#pragma once

#include "models/kernels/vectors.hpp"

namespace paceline {

namespace {

// Sums, a register of B for each column of them and a broadcast fit the register file.
constexpr Index columns_of_registers = 2;
constexpr Index tallest = registers >= 32 ? 12 : 6;
template <class Scalar>
constexpr Index tile_width = columns_of_registers * register_size<Scalar>;

struct LinearRows {
    Index distance;
    PACELINE_INLINE Index operator()(Index k) const { return k * distance; }
};

struct GatheredRows {
    const Index* rows;
    PACELINE_INLINE Index operator()(Index k) const { return rows[k]; }
};

/// A tile of C, `Height` rows by two registers.
template <class Scalar, Index Height, class Rows>
void tile(Index depth, const Strided<Scalar>& a, const Scalar* b, Rows b_row, Scalar* c,
          Index c_row, const ProductEnds<Scalar>& ends) {
    using R = Register<Scalar>;
    constexpr Index size = register_size<Scalar>;
    R sums[Height][columns_of_registers];
    for (Index i = 0; i < Height; ++i)
        for (Index v = 0; v < columns_of_registers; ++v) {
            if (ends.start == Start::sum)
                sums[i][v] = load<R>(c + i * c_row + v * size);
            else
                sums[i][v] = broadcast<R>(ends.start == Start::bias ? ends.bias[i] : Scalar{0});
        }
    for (Index k = 0; k < depth; ++k) {
        const Scalar* row = b + b_row(k);
        const Scalar* column = a.data + k * a.column;
        R loaded[columns_of_registers];
        for (Index v = 0; v < columns_of_registers; ++v) loaded[v] = load<R>(row + v * size);
        for (Index i = 0; i < Height; ++i) {
            const R factor = broadcast<R>(column[i * a.row]);
            for (Index v = 0; v < columns_of_registers; ++v)
                sums[i][v] = fused(factor, loaded[v], sums[i][v]);
        }
    }
    if (ends.finish == Finish::relu)
        for (Index i = 0; i < Height; ++i)
            for (Index v = 0; v < columns_of_registers; ++v)
                sums[i][v] = sums[i][v] < R{} ? R{} : sums[i][v];
    for (Index i = 0; i < Height; ++i)
        for (Index v = 0; v < columns_of_registers; ++v)
            store(c + i * c_row + v * size, sums[i][v]);
}

/// The tiles of every height: at[h - 1] has h rows.
template <class Scalar, class Rows>
struct Tiles {
    using Tile = void (*)(Index, const Strided<Scalar>&, const Scalar*, Rows, Scalar*, Index,
                          const ProductEnds<Scalar>&);
    Tile at[tallest];

    constexpr Tiles() : at{} { fill<tallest>(); }

    template <Index Height>
    constexpr void fill() {
        at[Height - 1] = &tile<Scalar, Height, Rows>;
        if constexpr (Height > 1) fill<Height - 1>();
    }
};

// Rows are split evenly: 16 are 8 + 8, not 12 + 4.
template <class Scalar, class Rows>
void multiply_strip(Index rows, Index depth, Strided<Scalar> a, const Scalar* b, Rows b_row,
                    Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    static constexpr Tiles<Scalar, Rows> tiles;
    Index left = (rows + tallest - 1) / tallest;
    for (Index i = 0; i < rows; --left) {
        const Index height = (rows - i + left - 1) / left;
        tiles.at[height - 1](depth, a, b, b_row, c, c_row, ends);
        a.data += height * a.row;
        c += height * c_row;
        if (ends.bias != nullptr) ends.bias += height;
        i += height;
    }
}

template <class Scalar>
PACELINE_INLINE void copy(const Scalar* from, Index count, Scalar* to) {
    __builtin_memcpy(to, from, static_cast<unsigned long>(count) * sizeof(Scalar));
}

// Columns left over, fewer than a tile is wide: both B and C pass through tiles with zeros beside.
template <class Scalar>
void multiply_rest(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
                   Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index width = tile_width<Scalar>;
    constexpr Index deepest = 64;
    Scalar b_tile[deepest * width] = {};
    Scalar c_tile[tallest * width] = {};
    for (Index k = 0; k == 0 || k < depth; k += deepest) {
        const Index part = depth - k < deepest ? depth - k : deepest;
        for (Index row = 0; row < part; ++row)
            copy(b + (k + row) * b_row, columns, b_tile + row * width);
        ProductEnds<Scalar> part_ends = ends;
        if (k > 0) part_ends.start = Start::sum;
        if (k + part < depth) part_ends.finish = Finish::plain;
        for (Index i = 0; i < rows; i += tallest) {
            const Index height = rows - i < tallest ? rows - i : tallest;
            for (Index row = 0; row < height; ++row)
                copy(c + (i + row) * c_row, columns, c_tile + row * width);
            multiply_strip(height, part,
                           Strided<Scalar>{a.data + i * a.row + k * a.column, a.row, a.column},
                           b_tile, LinearRows{width}, c_tile, width, part_ends);
            for (Index row = 0; row < height; ++row)
                copy(c_tile + row * width, columns, c + (i + row) * c_row);
            if (part_ends.bias != nullptr) part_ends.bias += height;
        }
    }
}

// A strip of C, as wide as a tile, in parts of `deepest` products: 16 KiB of B, which stay in the
// nearest cache while the rows of A pass. What is stored between two parts is loaded again to the
// bit.
template <class Scalar>
void multiply_deep_strip(Index rows, Index depth, Strided<Scalar> a, const Scalar* b, Index b_row,
                         Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index deepest = 16384 / (tile_width<Scalar> * static_cast<Index>(sizeof(Scalar)));
    const Finish finish = ends.finish;
    for (Index k = 0; k == 0 || k < depth; k += deepest) {
        const Index part = depth - k < deepest ? depth - k : deepest;
        ends.finish = k + part < depth ? Finish::plain : finish;
        multiply_strip(rows, part, Strided<Scalar>{a.data + k * a.column, a.row, a.column},
                       b + k * b_row, LinearRows{b_row}, c, c_row, ends);
        ends.start = Start::sum;
    }
}

template <class Scalar>
void multiply(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
              Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index width = tile_width<Scalar>;
    Index j = 0;
    for (; j + width <= columns; j += width)
        multiply_deep_strip(rows, depth, a, b + j, b_row, c + j, c_row, ends);
    if (j < columns) multiply_rest(rows, columns - j, depth, a, b + j, b_row, c + j, c_row, ends);
}

template <class Scalar>
void multiply_gathered(Index rows, Index depth, Strided<Scalar> a, const Scalar* b,
                       const Index* b_rows, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    for (Index j = 0; j < panel_lanes; j += tile_width<Scalar>)
        multiply_strip(rows, depth, a, b + j, GatheredRows{b_rows}, c + j, c_row, ends);
}

// Sums lie in 16 lanes: pixel by pixel, lanes 0 to 15 of the panel and then 16 to 31 are added to
// them. A pass has as many of the 16 as a register holds. Two rows of D against nine taps are 18
// sums, which takes 32 registers.
constexpr Index correlation_lanes = 16;
constexpr Index correlated_rows = registers >= 32 && register_bytes >= 64 ? 2 : 1;
constexpr Index taps = 9;

template <class Scalar, Index Height>
void correlate_rows(const Scalar* d, Index d_row, const ErrorGrid& grid, const Scalar* x,
                    const InputGrid& seen, Scalar* g, Index g_row) {
    using R = Register<Scalar>;
    constexpr Index size = register_size<Scalar>;
    static_assert(correlation_lanes % size == 0);
    Scalar lanes[Height][taps][correlation_lanes];
    for (Index pass = 0; pass < correlation_lanes; pass += size) {
        R sums[Height][taps] = {};
        for (Index y = 0; y < grid.height; ++y)
            for (Index pixel = 0; pixel < grid.width; ++pixel)
                for (Index lane = pass; lane < panel_lanes; lane += correlation_lanes) {
                    const Scalar* here = d + y * grid.row + pixel * panel_lanes + lane;
                    const Scalar* there = x + y * seen.row + pixel * seen.pixel + lane;
                    R error[Height];
                    for (Index i = 0; i < Height; ++i) error[i] = load<R>(here + i * d_row);
                    for (Index tap = 0; tap < taps; ++tap) {
                        const R input =
                            load<R>(there + (tap / 3) * seen.tap_row + (tap % 3) * panel_lanes);
                        for (Index i = 0; i < Height; ++i)
                            sums[i][tap] = fused(error[i], input, sums[i][tap]);
                    }
                }
        for (Index i = 0; i < Height; ++i)
            for (Index tap = 0; tap < taps; ++tap) store(&lanes[i][tap][pass], sums[i][tap]);
    }
    for (Index i = 0; i < Height; ++i)
        for (Index tap = 0; tap < taps; ++tap)
            g[i * g_row + tap] += folded<Scalar, correlation_lanes>(lanes[i][tap]);
}

template <class Scalar>
void correlate_3x3(Index rows, const Scalar* d, Index d_row, const ErrorGrid& grid, const Scalar* x,
                   const InputGrid& seen, Scalar* g, Index g_row) {
    Index i = 0;
    for (; i + correlated_rows <= rows; i += correlated_rows)
        correlate_rows<Scalar, correlated_rows>(d + i * d_row, d_row, grid, x, seen, g + i * g_row,
                                                g_row);
    for (; i < rows; ++i)
        correlate_rows<Scalar, 1>(d + i * d_row, d_row, grid, x, seen, g + i * g_row, g_row);
}

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> converted(const Lanes<float>& v) {
    return __builtin_convertvector(v, Lanes<Scalar>);
}

template <class Scalar>
Scalar dot_product(Index n, const float* a, const Scalar* b) {
    using V = Lanes<Scalar>;
    V sum = {};
    Index k = 0;
    for (; k + panel_lanes <= n; k += panel_lanes)
        sum = fused(converted<Scalar>(load<Lanes<float>>(a + k)), load<V>(b + k), sum);
    if (k < n) {
        float a_rest[panel_lanes] = {};
        Scalar b_rest[panel_lanes] = {};
        copy(a + k, n - k, a_rest);
        copy(b + k, n - k, b_rest);
        sum = fused(converted<Scalar>(load<Lanes<float>>(a_rest)), load<V>(b_rest), sum);
    }
    return folded<Scalar>(sum);
}

}  // namespace

}  // namespace paceline
