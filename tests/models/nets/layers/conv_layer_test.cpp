#include "models/nets/layers/conv_layer.hpp"

#include <doctest/doctest.h>

#include "models/nets/layers/image_layers.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::conv_layer_test {
namespace {

using Eigen::Index;

// Random pixels inside, zeros in the border.
Panel<double> random_image(RandomStream& random, const ImageExtent& image) {
    Panel<double> panel = zero_panel<double>(image.features());
    for (Index c = 0; c < image.channels; ++c)
        for (Index y = 0; y < image.height; ++y)
            for (Index x = 0; x < image.width; ++x)
                panel.col(image.feature(c, y, x)) = random_point(random, lanes, 1).array();
    return panel;
}

// The definition, term by term, with zeros outside the image.
double convolve(const ConvShape& shape, const Eigen::VectorXd& w, const Panel<double>& in,
                Index lane, Index o, Index y, Index x) {
    double sum = 0;
    for (Index c = 0; c < shape.in.channels; ++c)
        for (Index v = 0; v < 3; ++v)
            for (Index u = 0; u < 3; ++u) {
                const Index row = shape.stride * y + v - 1;
                const Index column = shape.stride * x + u - 1;
                if (row < 0 || row >= shape.in.height || column < 0 || column >= shape.in.width)
                    continue;
                sum += w[((o * shape.in.channels + c) * 3 + v) * 3 + u] *
                       in(lane, shape.in.feature(c, row, column));
            }
    return sum;
}

TEST_CASE("convolution: it is the sum of its definition, for strides 1 and 2, even and odd sizes") {
    RandomStream random = RandomStreams(1).stream("conv");
    for (const Index stride : {1, 2})
        for (const Index size : {1, 4, 5}) {
            CAPTURE(stride);
            CAPTURE(size);
            const ConvShape shape{
                .in = {3, size, 6}, .out_channels = 14, .stride = stride, .bias = true};
            const auto layer = make_conv_layer<double>("conv", shape);
            const Eigen::VectorXd w = random_point(random, 14 * 28, 1);
            const Panel<double> in = random_image(random, shape.in);
            Panel<double> out = zero_panel<double>(shape.out().features());
            layer->forward(w.data(), in, out);
            double error = 0;
            double all = 0;
            for (Index o = 0; o < 14; ++o)
                for (Index y = 0; y < shape.out().height; ++y)
                    for (Index x = 0; x < shape.out().width; ++x)
                        for (Index lane = 0; lane < lanes; ++lane) {
                            const double z = convolve(shape, w, in, lane, o, y, x) + w[378 + o];
                            error += std::abs(out(lane, shape.out().feature(o, y, x)) - z);
                            all += std::abs(z);
                        }
            CHECK(error < 1e-12 * all);
            // The border holds zeros, so the inside is everything.
            double inside = 0;
            for (Index o = 0; o < 14; ++o)
                for (Index y = 0; y < shape.out().height; ++y)
                    for (Index x = 0; x < shape.out().width; ++x)
                        inside += out.col(shape.out().feature(o, y, x)).abs().sum();
            CHECK(out.abs().sum() == doctest::Approx(inside).epsilon(1e-12));
        }
}

// Both directions are linear, so <d, conv(v)> = <conv^T d, v> for all d and v determines the
// backward pass.
TEST_CASE("convolution: the gradient of the input is the adjoint") {
    RandomStream random = RandomStreams(2).stream("conv");
    for (const Index stride : {1, 2})
        for (const Index size : {1, 4, 5}) {
            CAPTURE(stride);
            CAPTURE(size);
            const ConvShape shape{
                .in = {3, size, 6}, .out_channels = 5, .stride = stride, .bias = false};
            const auto layer = make_conv_layer<double>("conv", shape);
            const Eigen::VectorXd w = random_point(random, 5 * 27, 1);
            const Panel<double> in = random_image(random, shape.in);
            Panel<double> out = zero_panel<double>(shape.out().features());
            layer->forward(w.data(), in, out);
            Panel<double> d_out = random_image(random, shape.out());
            Panel<double> d_in = zero_panel<double>(shape.in.features());
            Eigen::VectorXd g = Eigen::VectorXd::Zero(w.size());
            layer->backward({.x = w.data(),
                             .in = in,
                             .out = out,
                             .d_out = d_out,
                             .d_in = &d_in,
                             .g = g.data(),
                             .add = false});
            const double product = (d_out * out).sum();
            CHECK((d_in * in).sum() == doctest::Approx(product).epsilon(1e-12));
            CHECK(g.dot(w) == doctest::Approx(product).epsilon(1e-12));
        }
}

TEST_CASE("max pooling: the largest of four goes up, and its gradient comes back to it alone") {
    RandomStream random = RandomStreams(3).stream("pool");
    const ImageExtent image{2, 5, 4};
    const ImageExtent pooled = after_max_pool(image);
    CHECK(pooled.height == 2);
    CHECK(pooled.width == 2);
    const auto layer = make_max_pool<double>(image);
    Panel<double> in = random_image(random, image);
    in.col(image.feature(0, 0, 1)) = in.col(image.feature(0, 0, 0));  // an occasional tie
    Panel<double> out = zero_panel<double>(pooled.features());
    layer->forward(nullptr, in, out);
    Panel<double> d_out = random_image(random, pooled);
    Panel<double> d_in = zero_panel<double>(image.features());
    layer->backward({nullptr, in, out, d_out, &d_in, nullptr, false});

    for (Index lane = 0; lane < lanes; ++lane)
        for (Index c = 0; c < 2; ++c)
            for (Index y = 0; y < 2; ++y)
                for (Index x = 0; x < 2; ++x) {
                    double max = -1e300;
                    double sum = 0;
                    int takers = 0;
                    for (Index v = 0; v < 2; ++v)
                        for (Index u = 0; u < 2; ++u) {
                            const Index at = image.feature(c, 2 * y + v, 2 * x + u);
                            max = std::max(max, in(lane, at));
                            sum += d_in(lane, at);
                            takers += d_in(lane, at) != 0 ? 1 : 0;
                            if (d_in(lane, at) != 0)
                                CHECK(in(lane, at) == out(lane, pooled.feature(c, y, x)));
                        }
                    CHECK(out(lane, pooled.feature(c, y, x)) == max);
                    CHECK(sum == d_out(lane, pooled.feature(c, y, x)));
                    CHECK(takers == 1);
                }
    CHECK((d_in.col(image.feature(0, 4, 0)) == 0.0).all());  // the odd row is left out
}

TEST_CASE(
    "average pooling: it is the mean of each channel, and its gradient is shared out evenly") {
    RandomStream random = RandomStreams(4).stream("pool");
    const ImageExtent image{3, 2, 5};
    const auto layer = make_average_pool<double>(image);
    const Panel<double> in = random_image(random, image);
    Panel<double> out = zero_panel<double>(3);
    layer->forward(nullptr, in, out);
    Panel<double> d_out = zero_panel<double>(3);
    d_out.setOnes();
    Panel<double> d_in = zero_panel<double>(image.features());
    layer->backward({nullptr, in, out, d_out, &d_in, nullptr, false});

    const Index of_channel = image.features() / 3;
    for (Index c = 0; c < 3; ++c)
        CHECK((out.col(c) - in.middleCols(c * of_channel, of_channel).rowwise().sum() / 10)
                  .abs()
                  .maxCoeff() < 1e-14);
    CHECK(d_in(7, image.feature(2, 1, 4)) == doctest::Approx(0.1));
    CHECK(d_in.sum() == doctest::Approx(3.0 * lanes));
}

}  // namespace
}  // namespace paceline::conv_layer_test
