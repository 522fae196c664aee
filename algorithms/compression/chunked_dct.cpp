#include "algorithms/compression/chunked_dct.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "models/tensors/algebra.hpp"
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

// Stored by columns, X^T is X by rows; so (A X)^T = X^T A^T comes out as what the second product
// takes.
void ChunkedDct::apply(Eigen::VectorXd& v, bool forward) const {
    std::vector<double> in;
    std::vector<double> half;
    std::vector<double> out;
    for (std::size_t t = 0; t < layout_->tensors().size(); ++t) {
        const TensorChunks chunks = chunks_of(layout_->tensors()[t], side_);
        const Eigen::Index h = chunks.height;
        const Eigen::Index w = chunks.width;
        if (chunks.count() == 0) continue;
        in.resize(static_cast<std::size_t>(h * w));
        half.resize(in.size());
        out.resize(in.size());
        const ConstThinMap of_rows(basis(h, forward), h, h);
        const ConstThinMap of_columns(basis(w, forward), w, w);
        double* const tensor = v.data() + layout_->offset(t);
        for_each_chunk(chunks, [&](std::int64_t first) {
            copy_chunk(tensor + first, chunks.columns, in.data(), w, chunks);
            multiply_outer(ConstThinMap(in.data(), w, h), of_rows,
                           Eigen::Map<RowMajorMatrix>(half.data(), w, h));
            multiply_outer(ConstThinMap(half.data(), h, w), of_columns,
                           Eigen::Map<RowMajorMatrix>(out.data(), h, w));
            copy_chunk(out.data(), w, tensor + first, chunks.columns, chunks);
        });
    }
}

void ChunkedDct::keep_largest(Eigen::VectorXd& components, std::int64_t k) const {
    TopKScratch scratch;
    std::vector<double> chunk;
    for (std::size_t t = 0; t < layout_->tensors().size(); ++t) {
        const TensorChunks chunks = chunks_of(layout_->tensors()[t], side_);
        if (k >= chunks.entries_of_one()) continue;
        chunk.resize(static_cast<std::size_t>(chunks.entries_of_one()));
        double* const tensor = components.data() + layout_->offset(t);
        for_each_chunk(chunks, [&](std::int64_t first) {
            copy_chunk(tensor + first, chunks.columns, chunk.data(), chunks.width, chunks);
            keep_only_largest(chunk, k, scratch);
            copy_chunk(chunk.data(), chunks.width, tensor + first, chunks.columns, chunks);
        });
    }
}

}  // namespace paceline
