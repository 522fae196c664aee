#include "models/nets/conv_net.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "models/nets/residual_net.hpp"
#include "sim/engine/check.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::conv_net_test {
namespace {

TEST_CASE("convolutional net: its tensors and their multiply-accumulates, for 28 x 28 images") {
    const auto net = make_conv_net<float>({.image = {1, 28, 28}});
    const auto& tensors = net->layout()->tensors();

    REQUIRE(tensors.size() == 6);
    CHECK(tensors[0].name == "conv1.weight");
    CHECK(tensors[0].shape == std::vector<std::int64_t>{16, 1, 3, 3});
    CHECK(tensors[1].name == "conv1.bias");
    CHECK(tensors[2].shape == std::vector<std::int64_t>{32, 16, 3, 3});
    CHECK(tensors[4].name == "fc.weight");
    CHECK(tensors[4].shape == std::vector<std::int64_t>{10, 32 * 7 * 7});
    CHECK(tensors[5].name == "fc.bias");
    CHECK(net->tensor_macs() ==
          std::vector<double>{28 * 28 * 16 * 9, 0, 14 * 14 * 32 * 16 * 9, 0, 10 * 32 * 49, 0});
}

TEST_CASE("convolutional net: with zero weights the loss is ln(classes)") {
    RandomStream random = RandomStreams(1).stream("conv");
    const auto net = make_conv_net<double>({.image = {3, 8, 8}, .channels = {4, 4}, .classes = 5});
    Eigen::VectorXd g;

    CHECK(net->gradient(Eigen::VectorXd::Zero(net->layout()->entries()),
                        draw_features(random, 5, 192, 5),
                        g) == doctest::Approx(std::log(5)).epsilon(1e-14));
}

TEST_CASE("convolutional net: an image that cannot be halved is refused") {
    CHECK_THROWS_AS(make_conv_net<float>({.image = {1, 2, 2}, .channels = {4, 4}}), LogicError);
}

TEST_CASE("residual net: blocks 3 and width 16 have the parameters of the paper's ResNet-20") {
    const auto net = make_residual_net<float>({.image = {3, 32, 32}, .width = 16, .blocks = 3});

    // 19 convolutions and a fully connected layer, 0.27 M. The normalizations have a scale and a
    // shift, as in batch normalization.
    CHECK(net->layout()->entries() == 269'722);
    std::size_t weights = 0;
    for (const Tensor& tensor : net->layout()->tensors()) weights += tensor.compressible() ? 1 : 0;
    CHECK(weights == 20);
    CHECK(net->layout()->tensors()[3].name == "stage1.block1.conv1.weight");
    CHECK(net->layout()->tensors()[4].name == "stage1.block1.norm1.scale");
}

TEST_CASE("residual net: with zero convolutions and a zero last layer the loss is ln(classes)") {
    RandomStream random = RandomStreams(1).stream("residual");
    const auto net = make_residual_net<double>({.image = {1, 6, 6}, .width = 4, .classes = 3});
    Eigen::VectorXd g;

    CHECK(net->gradient(Eigen::VectorXd::Zero(net->layout()->entries()),
                        draw_features(random, 5, 36, 3),
                        g) == doctest::Approx(std::log(3)).epsilon(1e-14));
}

// If its convolutions add nothing, a net reduces to its shortcuts: the classifier sees the first
// convolution's channels, each the mean of every fourth pixel in both directions, and zeros for the
// rest.
TEST_CASE("residual net: shortcuts subsample, and pad the channels with zeros") {
    RandomStream random = RandomStreams(2).stream("residual");
    const auto net = make_residual_net<double>(
        {.image = {1, 8, 8}, .width = 2, .blocks = 1, .groups = 1, .classes = 2});
    const Layout& layout = *net->layout();
    Eigen::VectorXd x = Eigen::VectorXd::Zero(layout.entries());
    x[layout.offset(0) + 4] = 1;  // channel 0 is the image, channel 1 is 0
    x[layout.offset(1)] = 1;      // norm1.scale of channel 0
    const auto fc = layout.offset(layout.tensors().size() - 2);
    for (int c = 1; c < 8; ++c) x[fc + c] = 100;  // padded channels must have no effect
    x[fc] = 1;
    const Samples batch = draw_features(random, 3, 64, 2);
    double expected = 0;
    for (int s = 0; s < 3; ++s) {
        const Eigen::ArrayXd pixels = batch.inputs.col(s).cast<double>().array();
        const double mean = pixels.sum() / 128;  // over both channels
        const double square = pixels.square().sum() / 128;
        double z = 0;
        for (const int y : {0, 4})
            for (const int column : {0, 4})
                z += std::max(
                         (pixels[y * 8 + column] - mean) / std::sqrt(square - mean * mean + 1e-5),
                         0.0) /
                     4;
        expected += std::log(std::exp(z) + 1) - (batch.labels[s] == 0 ? z : 0);
    }

    CHECK(net->score(x, batch).loss == doctest::Approx(expected).epsilon(1e-12));
}

}  // namespace
}  // namespace paceline::conv_net_test
