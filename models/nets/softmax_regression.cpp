#include "models/nets/softmax_regression.hpp"

#include "models/nets/classifier.hpp"
#include "models/nets/layers/dense_layer.hpp"

namespace paceline {

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_softmax_regression(Eigen::Index features, Eigen::Index classes) {
    return make_classifier<Scalar>([=] {
        Layers<Scalar> layers;
        layers.push_back(
            make_dense_layer<Scalar>("", {.in = features, .out = classes, .start_at_zero = true}));
        return layers;
    });
}

template std::unique_ptr<Net<float>> make_softmax_regression(Eigen::Index, Eigen::Index);
template std::unique_ptr<Net<double>> make_softmax_regression(Eigen::Index, Eigen::Index);

}  // namespace paceline
