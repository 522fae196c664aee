#include "models/nets/layers/residual_block.hpp"

#include "models/nets/layers/conv_layer.hpp"
#include "models/nets/layers/group_norm.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Eigen::Index;

template <class Scalar>
Layers<Scalar> branch(const std::string& name, const ResidualBlockShape& shape) {
    Layers<Scalar> layers;
    const ImageExtent out = shape.out();
    const ConvShape first{
        .in = shape.in, .out_channels = shape.out_channels, .stride = shape.stride, .bias = false};
    const ConvShape second{.in = out, .out_channels = shape.out_channels, .bias = false};
    layers.push_back(make_conv_layer<Scalar>(name + ".conv1", first));
    layers.push_back(make_group_norm<Scalar>(name + ".norm1",
                                             {.image = out, .groups = shape.groups, .relu = true}));
    layers.push_back(make_conv_layer<Scalar>(name + ".conv2", second));
    layers.push_back(
        make_group_norm<Scalar>(name + ".norm2", {.image = out, .groups = shape.groups}));
    return layers;
}

template <class Scalar>
class ResidualBlock final : public Layer<Scalar> {
  public:
    ResidualBlock(const std::string& name, const ResidualBlockShape& shape)
        : shape_(shape), out_(shape.out()), branch_(branch<Scalar>(name, shape)) {
        PACELINE_CHECK(shape.out_channels >= shape.in.channels, "a shortcut loses no channels");
    }

    [[nodiscard]] Index in_features() const override { return shape_.in.features(); }
    [[nodiscard]] Index out_features() const override { return out_.features(); }
    [[nodiscard]] std::vector<Tensor> tensors() const override { return branch_.tensors(); }
    [[nodiscard]] std::vector<double> tensor_macs() const override { return branch_.tensor_macs(); }
    void initialize(RandomStream& stream, Scalar* x) const override {
        branch_.initialize(stream, x);
    }

    void forward(const Scalar* x, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        branch_.forward(x, in, out);
        for_each_pixel([&](Index c, Index at, Index from) {
            Lanes<Scalar> z = out.col(at);
            if (c < shape_.in.channels) z += in.col(from);
            out.col(at) = relu(z);
        });
    }

    void backward(const BackwardPass<Scalar>& pass) override {
        for_each_pixel([&](Index, Index at, Index) {
            auto d = pass.d_out.col(at);
            d = relu_gradient<Scalar>(d, pass.out.col(at));
        });
        branch_.backward(pass);  // it ends in no ReLU, so it leaves d_out unchanged
        if (pass.d_in == nullptr) return;
        for_each_pixel([&](Index c, Index at, Index from) {
            if (c < shape_.in.channels) pass.d_in->col(from) += pass.d_out.col(at);
        });
    }

    void finish(Scalar* g) override { branch_.finish(g); }

  private:
    // Calls visit(channel, pixel of the output, pixel of the input that the shortcut adds there).
    template <class Visit>
    void for_each_pixel(Visit visit) const {
        for (Index c = 0; c < out_.channels; ++c)
            for (Index y = 0; y < out_.height; ++y)
                for (Index x = 0; x < out_.width; ++x)
                    visit(c, out_.feature(c, y, x),
                          shape_.in.feature(c, shape_.stride * y, shape_.stride * x));
    }

    ResidualBlockShape shape_;
    ImageExtent out_;
    Chain<Scalar> branch_;
};

}  // namespace

ImageExtent ResidualBlockShape::out() const {
    return ConvShape{.in = in, .out_channels = out_channels, .stride = stride}.out();
}

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_residual_block(const std::string& name,
                                                   const ResidualBlockShape& shape) {
    return std::make_unique<ResidualBlock<Scalar>>(name, shape);
}

template std::unique_ptr<Layer<float>> make_residual_block(const std::string&,
                                                           const ResidualBlockShape&);
template std::unique_ptr<Layer<double>> make_residual_block(const std::string&,
                                                            const ResidualBlockShape&);

}  // namespace paceline
