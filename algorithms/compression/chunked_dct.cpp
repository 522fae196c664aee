#include "algorithms/compression/chunked_dct.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "algorithms/compression/tensor_chunks.hpp"
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

}  // namespace

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
    for (std::size_t t = 0; t < layout_->tensors().size(); ++t) {
        const Tensor& tensor = layout_->tensors()[t];
        keep_largest_of_chunks(
            {components.data() + layout_->offset(t), static_cast<std::size_t>(tensor.entries())},
            chunks_of(tensor, side_), k);
    }
}

}  // namespace paceline
