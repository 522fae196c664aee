#include "models/nets/conv_net.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "models/nets/classifier.hpp"
#include "models/nets/layers/conv_layer.hpp"
#include "models/nets/layers/dense_layer.hpp"
#include "models/nets/layers/image_layers.hpp"

namespace paceline {

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_conv_net(const ConvNetShape& shape) {
    return make_classifier<Scalar>([shape] {
        Layers<Scalar> layers;
        ImageExtent image{shape.image.channels, shape.image.height, shape.image.width};
        layers.push_back(make_add_border<Scalar>(image));
        for (std::size_t stage = 0; stage < shape.channels.size(); ++stage) {
            const ConvShape conv{.in = image, .out_channels = shape.channels[stage], .relu = true};
            layers.push_back(make_conv_layer<Scalar>(fmt::format("conv{}", stage + 1), conv));
            layers.push_back(make_max_pool<Scalar>(conv.out()));
            image = after_max_pool(conv.out());
        }
        layers.push_back(make_drop_border<Scalar>(image));
        layers.push_back(
            make_dense_layer<Scalar>("fc.", {.in = image.pixels(), .out = shape.classes}));
        return layers;
    });
}

template std::unique_ptr<Net<float>> make_conv_net(const ConvNetShape&);
template std::unique_ptr<Net<double>> make_conv_net(const ConvNetShape&);

}  // namespace paceline
