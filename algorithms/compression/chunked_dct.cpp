#include "algorithms/compression/chunked_dct.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

std::vector<double> cosines(std::int64_t size, bool transposed) {
    const auto n = static_cast<std::size_t>(size);
    std::vector<double> a(n * n);
    for (std::size_t b = 0; b < n; ++b)
        for (std::size_t j = 0; j < n; ++j) {
            if ((2 * j + 1) * b % (2 * n) == n) continue;  // pi/2 and its like: exactly 0
            const double scale = std::sqrt((b == 0 ? 1.0 : 2.0) / static_cast<double>(n));
            const double angle = std::numbers::pi * static_cast<double>((2 * j + 1) * b) /
                                 static_cast<double>(2 * n);
            a[transposed ? j * n + b : b * n + j] = scale * elementary::cos(angle);
        }
    return a;
}

// c <- a b for matrices of n x n and n x m, or n x m and m x m, by rows; sums in the order of the middle index.
void multiply_rows(const double* a, const double* b, double* c, std::size_t rows, std::size_t depth,
                   std::size_t columns) {
    std::fill(c, c + rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t d = 0; d < depth; ++d) {
            const double factor = a[i * depth + d];
            for (std::size_t j = 0; j < columns; ++j)
                c[i * columns + j] += factor * b[d * columns + j];
        }
}

// Calls use(first entry of a chunk) for each; rows of a chunk are `columns` apart.
template <class Use>
void for_each_chunk(const TensorChunks& chunks, Use use) {
    if (chunks.count() == 0) return;
    for (std::int64_t r = 0; r < chunks.rows; r += chunks.height)
        for (std::int64_t c = 0; c < chunks.columns; c += chunks.width) use(r * chunks.columns + c);
}

void copy_chunk(const double* from, std::int64_t from_row, double* to, std::int64_t to_row,
                const TensorChunks& chunks) {
    for (std::int64_t r = 0; r < chunks.height; ++r)
        std::copy_n(from + r * from_row, chunks.width, to + r * to_row);
}

}  // namespace

std::int64_t divisor_up_to(std::int64_t n, std::int64_t most) {
    for (std::int64_t d = std::min(n, most); d > 1; --d)
        if (n % d == 0) return d;
    return 1;
}

TensorChunks chunks_of(const Tensor& tensor, std::int64_t side) {
    const std::int64_t entries = tensor.entries();
    if (entries == 0) return {0, 0, 0, 0};
    const std::int64_t rows = tensor.shape.size() < 2 ? 1 : tensor.shape.front();
    const std::int64_t columns = entries / rows;
    return {rows, columns, divisor_up_to(rows, side), divisor_up_to(columns, side)};
}

std::int64_t kept_components(const Tensor& tensor, std::int64_t side, std::int64_t k) {
    const TensorChunks chunks = chunks_of(tensor, side);
    return chunks.count() * std::min(k, chunks.entries_of_one());
}

ChunkedDct::ChunkedDct(LayoutPtr layout, std::int64_t side)
    : layout_(std::move(layout)), side_(side) {
    for (const Tensor& tensor : layout_->tensors()) {
        const TensorChunks chunks = chunks_of(tensor, side_);
        for (const std::int64_t size : {chunks.height, chunks.width})
            if (!bases_.contains(size)) bases_[size] = {cosines(size, false), cosines(size, true)};
    }
}

void ChunkedDct::apply(Eigen::VectorXd& v, bool forward) const {
    std::vector<double> in;
    std::vector<double> half;
    std::vector<double> out;
    for (std::size_t t = 0; t < layout_->tensors().size(); ++t) {
        const TensorChunks chunks = chunks_of(layout_->tensors()[t], side_);
        if (chunks.count() == 0) continue;
        const Basis& of_rows = basis(chunks.height);
        const Basis& of_columns = basis(chunks.width);
        const auto& left = forward ? of_rows.cosines : of_rows.transposed;
        const auto& right = forward ? of_columns.transposed : of_columns.cosines;
        const auto h = static_cast<std::size_t>(chunks.height);
        const auto w = static_cast<std::size_t>(chunks.width);
        in.resize(h * w);
        half.resize(h * w);
        out.resize(h * w);
        double* const tensor = v.data() + layout_->offset(t);
        for_each_chunk(chunks, [&](std::int64_t first) {
            copy_chunk(tensor + first, chunks.columns, in.data(), chunks.width, chunks);
            multiply_rows(left.data(), in.data(), half.data(), h, h, w);
            multiply_rows(half.data(), right.data(), out.data(), h, w, w);
            copy_chunk(out.data(), chunks.width, tensor + first, chunks.columns, chunks);
        });
    }
}

void ChunkedDct::keep_largest(Eigen::VectorXd& components, std::int64_t k) const {
    TopKScratch scratch;
    std::vector<double> chunk;
    std::vector<double> kept;
    for (std::size_t t = 0; t < layout_->tensors().size(); ++t) {
        const TensorChunks chunks = chunks_of(layout_->tensors()[t], side_);
        const std::int64_t entries = chunks.entries_of_one();
        if (k >= entries) continue;
        chunk.resize(static_cast<std::size_t>(entries));
        double* const tensor = components.data() + layout_->offset(t);
        for_each_chunk(chunks, [&](std::int64_t first) {
            copy_chunk(tensor + first, chunks.columns, chunk.data(), chunks.width, chunks);
            if (!select_exact(chunk, k, scratch)) return;
            kept.assign(chunk.size(), 0);
            for (const std::int64_t i : scratch.selected())
                kept[static_cast<std::size_t>(i)] = chunk[static_cast<std::size_t>(i)];
            copy_chunk(kept.data(), chunks.width, tensor + first, chunks.columns, chunks);
        });
    }
}

}  // namespace paceline
