#include "models/nets/dense_layer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/nets/product.hpp"
#include "models/nets/transpose.hpp"

namespace paceline {

namespace {

constexpr Plane one_pixel{1, 1, lanes};

template <class Scalar>
class DenseLayer final : public Layer<Scalar> {
  public:
    DenseLayer(std::string prefix, const DenseShape& shape)
        : prefix_(std::move(prefix)), shape_(shape), samples_(shape.in, lanes) {}

    [[nodiscard]] Index in_features() const override { return shape_.in; }
    [[nodiscard]] Index out_features() const override { return shape_.out; }

    [[nodiscard]] std::vector<Tensor> tensors() const override {
        return {{prefix_ + "weight", {shape_.out, shape_.in}}, {prefix_ + "bias", {shape_.out}}};
    }

    [[nodiscard]] std::vector<double> tensor_macs() const override {
        return {static_cast<double>(shape_.out * shape_.in), 0};
    }

    void initialize(RandomStream& stream, Scalar* x) const override {
        if (shape_.start_at_zero) {
            std::fill_n(x, shape_.out * (shape_.in + 1), Scalar{0});
            return;
        }
        const double gain = shape_.relu ? 2 : 1;
        const Index weights = shape_.out * shape_.in;
        draw_normal(stream, std::sqrt(gain / static_cast<double>(shape_.in)), weights, x);
        std::fill_n(x + weights, shape_.out, Scalar{0});
    }

    void forward(const Scalar* x, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        multiply<Scalar>(shape_.out, lanes, shape_.in, {x, shape_.in, 1}, in.data(), lanes,
                         out.data(), lanes,
                         {.start = Start::bias,
                          .bias = x + shape_.out * shape_.in,
                          .finish = shape_.relu ? Finish::relu : Finish::plain});
    }

    void backward(const Backward<Scalar>& pass) override {
        Scalar* d_bias = pass.g + shape_.out * shape_.in;
        for (Index i = 0; i < shape_.out; ++i) {
            const Scalar sum = kernels<Scalar>().masked_sum(
                one_pixel, pass.d_out.col(i).data(), shape_.relu ? pass.out.col(i).data() : nullptr);
            d_bias[i] = (pass.add ? d_bias[i] : Scalar{0}) + sum;
        }
        transpose(shape_.in, lanes, pass.in.data(), lanes, samples_.data(), shape_.in);
        multiply<Scalar>(shape_.out, shape_.in, lanes, {pass.d_out.data(), lanes, 1},
                         samples_.data(), shape_.in, pass.g, shape_.in,
                         {.start = pass.add ? Start::sum : Start::zero});
        if (pass.d_in == nullptr) return;
        multiply<Scalar>(shape_.in, lanes, shape_.out, {pass.x, 1, shape_.in}, pass.d_out.data(),
                         lanes, pass.d_in->data(), lanes);
    }

  private:
    std::string prefix_;
    DenseShape shape_;
    Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic> samples_;  // the input, a sample a column
};

}  // namespace

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_dense_layer(const std::string& prefix,
                                                const DenseShape& shape) {
    return std::make_unique<DenseLayer<Scalar>>(prefix, shape);
}

template std::unique_ptr<Layer<float>> make_dense_layer(const std::string&, const DenseShape&);
template std::unique_ptr<Layer<double>> make_dense_layer(const std::string&, const DenseShape&);

}  // namespace paceline
