#include "models/nets/mlp.hpp"

#include <fmt/format.h>

#include "models/nets/classifier.hpp"
#include "models/nets/layers/dense_layer.hpp"

namespace paceline {

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_mlp(const MlpShape& shape) {
    return make_classifier<Scalar>([shape] {
        Layers<Scalar> layers;
        Eigen::Index in = shape.features;
        for (const Eigen::Index width : shape.hidden) {
            layers.push_back(make_dense_layer<Scalar>(fmt::format("fc{}.", layers.size() + 1),
                                                      {.in = in, .out = width, .relu = true}));
            in = width;
        }
        layers.push_back(make_dense_layer<Scalar>(fmt::format("fc{}.", layers.size() + 1),
                                                  {.in = in, .out = shape.classes}));
        return layers;
    });
}

template std::unique_ptr<Net<float>> make_mlp(const MlpShape&);
template std::unique_ptr<Net<double>> make_mlp(const MlpShape&);

}  // namespace paceline
