#include "models/nets/residual_net.hpp"

#include <fmt/format.h>

#include "models/nets/classifier.hpp"
#include "models/nets/layers/conv_layer.hpp"
#include "models/nets/layers/dense_layer.hpp"
#include "models/nets/layers/group_norm.hpp"
#include "models/nets/layers/image_layers.hpp"
#include "models/nets/layers/residual_block.hpp"

namespace paceline {

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_residual_net(const ResidualNetShape& shape) {
    return make_classifier<Scalar>([shape] {
        Layers<Scalar> layers;
        const ImageExtent input{shape.image.channels, shape.image.height, shape.image.width};
        const ConvShape first{.in = input, .out_channels = shape.width, .bias = false};
        ImageExtent image = first.out();
        layers.push_back(make_add_border<Scalar>(input));
        layers.push_back(make_conv_layer<Scalar>("conv1", first));
        layers.push_back(make_group_norm<Scalar>(
            "norm1", {.image = image, .groups = shape.groups, .relu = true}));
        for (int stage = 0; stage < 3; ++stage)
            for (int block = 0; block < shape.blocks; ++block) {
                const ResidualBlockShape next{.in = image,
                                              .out_channels = shape.width << stage,
                                              .stride = stage > 0 && block == 0 ? 2 : 1,
                                              .groups = shape.groups};
                layers.push_back(make_residual_block<Scalar>(
                    fmt::format("stage{}.block{}", stage + 1, block + 1), next));
                image = next.out();
            }
        layers.push_back(make_average_pool<Scalar>(image));
        layers.push_back(
            make_dense_layer<Scalar>("fc.", {.in = image.channels, .out = shape.classes}));
        return layers;
    });
}

template std::unique_ptr<Net<float>> make_residual_net(const ResidualNetShape&);
template std::unique_ptr<Net<double>> make_residual_net(const ResidualNetShape&);

}  // namespace paceline
