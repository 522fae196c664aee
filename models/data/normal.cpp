#include "models/data/normal.hpp"

#include "sim/numeric/draws.hpp"

namespace paceline {

void fill_normal(Eigen::Ref<Eigen::MatrixXf> values, RandomStream& stream) {
    for (Eigen::Index j = 0; j < values.cols(); ++j)
        for (Eigen::Index i = 0; i < values.rows(); ++i)
            values(i, j) = static_cast<float>(draw_normal(stream));
}

}  // namespace paceline
