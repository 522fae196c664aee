#include "models/data/normal.hpp"

#include <boost/random/normal_distribution.hpp>

namespace paceline {

void fill_normal(Eigen::Ref<Eigen::MatrixXf> values, RandomStream& stream) {
    boost::random::normal_distribution<double> normal;
    for (Eigen::Index j = 0; j < values.cols(); ++j)
        for (Eigen::Index i = 0; i < values.rows(); ++i)
            values(i, j) = static_cast<float>(normal(stream));
}

}  // namespace paceline
