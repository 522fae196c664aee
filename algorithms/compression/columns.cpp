#include "algorithms/compression/columns.hpp"

#include <vector>

#include "algorithms/compression/column_quantizer.hpp"

namespace paceline {

Compressor make_columns() {
    Compressor compressor;
    compressor.name = "one-bit-columns";
    compressor.encode = 2;
    compressor.bits = [](const Tensor& tensor) {
        return 8 * columns_of(tensor) * column_bytes(rows_of(tensor)).count;
    };
    compressor.apply = [](std::span<double> x, const Tensor& tensor, RandomStream& /*random*/) {
        const Layout alone({tensor});
        Eigen::Map<Eigen::VectorXd> values(x.data(), static_cast<Eigen::Index>(x.size()));
        Eigen::VectorXd residual = Eigen::VectorXd::Zero(values.size());
        values = quantize_columns(alone, values, residual);
    };
    return compressor;
}

}  // namespace paceline
