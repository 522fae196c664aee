#include "algorithms/compression/column_quantizer.hpp"

#include <algorithm>
#include <cstddef>

#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Returns the two-level reconstruction of a column, and subtracts it from the column.
template <class Column>
Eigen::VectorXd take_levels(Column column) {
    const auto positive = (column.array() >= 0).eval();
    const auto above = static_cast<double>(positive.count());
    const double below = static_cast<double>(column.size()) - above;
    const double upper = sum(column.cwiseMax(0)) / std::max(above, 1.0);
    const double lower = sum(column.cwiseMin(0)) / std::max(below, 1.0);
    Eigen::VectorXd said = positive.select(upper, Eigen::VectorXd::Constant(column.size(), lower));
    column -= said;
    return said;
}

}  // namespace

std::int64_t columns_of(const Tensor& tensor) {
    return tensor.compressible() ? tensor.shape.front() : 1;
}

std::int64_t rows_of(const Tensor& tensor) {
    return tensor.entries() / columns_of(tensor);
}

Bytes column_bytes(std::int64_t rows) {
    return {4 * ((rows + 31) / 32) + 8};
}

Eigen::VectorXd quantize_columns(const Layout& layout, const Eigen::VectorXd& v,
                                 Eigen::VectorXd& residual) {
    PACELINE_CHECK(v.size() == layout.entries() && residual.size() == layout.entries(),
                   "what is quantized has the layout's size");
    residual += v;
    Eigen::VectorXd said(v.size());
    for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
        const std::int64_t rows = rows_of(layout.tensors()[l]);
        const std::int64_t columns = columns_of(layout.tensors()[l]);
        for (std::int64_t c = 0; c < columns; ++c) {
            const std::int64_t begin = layout.offset(l) + c * rows;
            said.segment(begin, rows) = take_levels(residual.segment(begin, rows));
        }
    }
    return said;
}

}  // namespace paceline
