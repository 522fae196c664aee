#include "examples/adding/low_rank.hpp"

#include "models/nets/classifier.hpp"
#include "models/nets/layers/dense_layer.hpp"

namespace paceline {

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_low_rank(const LowRankShape& shape) {
    return make_classifier<Scalar>([shape] {
        Layers<Scalar> layers;
        layers.push_back(
            make_dense_layer<Scalar>("down.", {.in = shape.features, .out = shape.rank}));
        layers.push_back(make_dense_layer<Scalar>("up.", {.in = shape.rank, .out = shape.classes}));
        return layers;
    });
}

template std::unique_ptr<Net<float>> make_low_rank(const LowRankShape&);
template std::unique_ptr<Net<double>> make_low_rank(const LowRankShape&);

}  // namespace paceline
