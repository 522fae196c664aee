#include "models/nets/group_norm.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Eigen::Index;

template <class Scalar>
class GroupNorm final : public Layer<Scalar> {
  public:
    GroupNorm(std::string name, const GroupNormShape& shape)
        : name_(std::move(name)),
          image_(shape.image),
          groups_(shape.groups),
          relu_(shape.relu),
          mean_(zero_panel<Scalar>(shape.groups)),
          inverse_deviation_(zero_panel<Scalar>(shape.groups)) {
        PACELINE_CHECK(groups_ > 0 && image_.channels % groups_ == 0, "groups divide the channels");
        const Index pixels = image_.pixels() / groups_;
        share_ = Scalar{1} / static_cast<Scalar>(pixels);
    }

    [[nodiscard]] Index in_features() const override { return image_.features(); }
    [[nodiscard]] Index out_features() const override { return image_.features(); }

    [[nodiscard]] std::vector<Tensor> tensors() const override {
        return {{name_ + ".scale", {image_.channels}}, {name_ + ".shift", {image_.channels}}};
    }

    [[nodiscard]] std::vector<double> tensor_macs() const override {
        return {static_cast<double>(image_.pixels()), 0};
    }

    void initialize(RandomStream&, Scalar* x) const override {
        std::fill_n(x, image_.channels, Scalar{1});
        std::fill_n(x + image_.channels, image_.channels, Scalar{0});
    }

    void forward(const Scalar* x, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        for (Index group = 0; group < groups_; ++group) {
            measure(group, in);
            for (Index c = first(group); c < first(group + 1); ++c) {
                const Lanes<Scalar> factor = x[c] * inverse_deviation_.col(group);
                const Lanes<Scalar> rest = x[image_.channels + c] - factor * mean_.col(group);
                for_each_pixel(c, [&](Index at) {
                    const Lanes<Scalar> z = factor * in.col(at) + rest;
                    out.col(at) = relu_ ? relu(z) : z;
                });
            }
        }
    }

    void backward(const Backward<Scalar>& pass) override {
        for (Index group = 0; group < groups_; ++group) {
            Lanes<Scalar> a = Lanes<Scalar>::Zero();
            Lanes<Scalar> b = Lanes<Scalar>::Zero();
            for (Index c = first(group); c < first(group + 1); ++c)
                backward_parameters(pass, group, c, a, b);
            if (pass.d_in == nullptr) continue;
            a *= share_;
            b *= share_;
            const Lanes<Scalar> mean = mean_.col(group);
            const Lanes<Scalar> inverse = inverse_deviation_.col(group);
            for (Index c = first(group); c < first(group + 1); ++c)
                for_each_pixel(c, [&](Index at) {
                    const auto normalized = (pass.in.col(at) - mean) * inverse;
                    pass.d_in->col(at) =
                        inverse * (pass.x[c] * pass.d_out.col(at) - a - normalized * b);
                });
        }
    }

  private:
    [[nodiscard]] Index first(Index group) const { return group * (image_.channels / groups_); }

    template <class Visit>
    void for_each_pixel(Index channel, Visit visit) const {
        for (Index y = 0; y < image_.height; ++y)
            for (Index x = 0; x < image_.width; ++x) visit(image_.feature(channel, y, x));
    }

    void measure(Index group, const Panel<Scalar>& in) {
        Lanes<Scalar> sum = Lanes<Scalar>::Zero();
        for (Index c = first(group); c < first(group + 1); ++c)
            for_each_pixel(c, [&](Index at) { sum += in.col(at); });
        const Lanes<Scalar> mean = share_ * sum;
        sum.setZero();
        for (Index c = first(group); c < first(group + 1); ++c)
            for_each_pixel(c, [&](Index at) { sum += (in.col(at) - mean).square(); });
        mean_.col(group) = mean;
        inverse_deviation_.col(group) = (share_ * sum + static_cast<Scalar>(1e-5)).sqrt().inverse();
    }

    // One channel's gradients, and what it adds to the sums A and B of its group.
    void backward_parameters(const Backward<Scalar>& pass, Index group, Index channel,
                             Lanes<Scalar>& a, Lanes<Scalar>& b) {
        const Lanes<Scalar> mean = mean_.col(group);
        const Lanes<Scalar> inverse = inverse_deviation_.col(group);
        Lanes<Scalar> d_shift = Lanes<Scalar>::Zero();
        Lanes<Scalar> d_scale = Lanes<Scalar>::Zero();
        for_each_pixel(channel, [&](Index at) {
            auto d = pass.d_out.col(at);
            if (relu_) d = relu_gradient<Scalar>(d, pass.out.col(at));
            d_shift += d;
            d_scale += d * (pass.in.col(at) - mean);
        });
        d_scale *= inverse;
        a += pass.x[channel] * d_shift;
        b += pass.x[channel] * d_scale;
        Scalar* g = pass.g + channel;
        g[0] = (pass.add ? g[0] : Scalar{0}) + d_scale.sum();
        g[image_.channels] = (pass.add ? g[image_.channels] : Scalar{0}) + d_shift.sum();
    }

    std::string name_;
    ImageExtent image_;
    Index groups_;
    bool relu_;
    Scalar share_;        // of one pixel in a group's mean
    Panel<Scalar> mean_;  // by group, of the panel that went forward last
    Panel<Scalar> inverse_deviation_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_group_norm(const std::string& name,
                                               const GroupNormShape& shape) {
    return std::make_unique<GroupNorm<Scalar>>(name, shape);
}

template std::unique_ptr<Layer<float>> make_group_norm(const std::string&, const GroupNormShape&);
template std::unique_ptr<Layer<double>> make_group_norm(const std::string&, const GroupNormShape&);

}  // namespace paceline
