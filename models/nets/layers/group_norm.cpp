#include "models/nets/layers/group_norm.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

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
            for (Index c = first(group); c < first(group + 1); ++c)
                kernels<Scalar>().norm_forward(channel(c, group, in), x[c], x[image_.channels + c],
                                               relu_, out.col(image_.feature(c, 0, 0)).data());
        }
    }

    void backward(const BackwardPass<Scalar>& pass) override {
        for (Index group = 0; group < groups_; ++group) {
            Lanes<Scalar> a = Lanes<Scalar>::Zero();
            Lanes<Scalar> b = Lanes<Scalar>::Zero();
            for (Index c = first(group); c < first(group + 1); ++c)
                backward_parameters(pass, group, c, a, b);
            if (pass.d_in == nullptr) continue;
            for (Index c = first(group); c < first(group + 1); ++c) {
                const Index at = image_.feature(c, 0, 0);
                kernels<Scalar>().norm_input(channel(c, group, pass.in), pass.x[c],
                                             pass.d_out.col(at).data(), share_, a.data(), b.data(),
                                             pass.d_in->col(at).data());
            }
        }
    }

  private:
    [[nodiscard]] Index first(Index group) const { return group * (image_.channels / groups_); }

    [[nodiscard]] NormChannel<Scalar> channel(Index c, Index group, const Panel<Scalar>& in) const {
        return {image_.plane(), in.col(image_.feature(c, 0, 0)).data(), mean_.col(group).data(),
                inverse_deviation_.col(group).data()};
    }

    void measure(Index group, const Panel<Scalar>& in) {
        Lanes<Scalar> sum = Lanes<Scalar>::Zero();
        for (Index c = first(group); c < first(group + 1); ++c)
            kernels<Scalar>().add_pixels(image_.plane(), in.col(image_.feature(c, 0, 0)).data(),
                                         sum.data());
        mean_.col(group) = share_ * sum;
        Lanes<Scalar> squares = Lanes<Scalar>::Zero();
        for (Index c = first(group); c < first(group + 1); ++c)
            kernels<Scalar>().add_squares(image_.plane(), in.col(image_.feature(c, 0, 0)).data(),
                                          mean_.col(group).data(), squares.data());
        kernels<Scalar>().inverse_deviation(squares.data(), share_, static_cast<Scalar>(1e-5),
                                            inverse_deviation_.col(group).data());
    }

    // Computes one channel's gradients, and adds its share to the sums a and b of its group.
    void backward_parameters(const BackwardPass<Scalar>& pass, Index group, Index c,
                             Lanes<Scalar>& a, Lanes<Scalar>& b) {
        Scalar d_scale{};
        Scalar d_shift{};
        const Index at = image_.feature(c, 0, 0);
        kernels<Scalar>().norm_parameters(
            channel(c, group, pass.in), pass.x[c], pass.d_out.col(at).data(),
            relu_ ? pass.out.col(at).data() : nullptr, &d_scale, &d_shift, a.data(), b.data());
        Scalar* g = pass.g + c;
        g[0] = (pass.add ? g[0] : Scalar{0}) + d_scale;
        g[image_.channels] = (pass.add ? g[image_.channels] : Scalar{0}) + d_shift;
    }

    std::string name_;
    ImageExtent image_;
    Index groups_;
    bool relu_;
    Scalar share_;        // of one pixel in a group's mean
    Panel<Scalar> mean_;  // by group, from the last forward pass
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
