#include "models/nets/layers/dense_layer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/nets/layers/product.hpp"
#include "models/nets/layers/transpose.hpp"

namespace paceline {

namespace {

constexpr Plane one_pixel{1, 1, lanes};

template <class Scalar>
class DenseLayer final : public Layer<Scalar> {
  public:
    DenseLayer(std::string prefix, const DenseShape& shape)
        : prefix_(std::move(prefix)),
          shape_(shape),
          errors_(shape.out * most_kept * lanes),
          samples_((shape.in + lanes - 1) / lanes * lanes * most_kept * lanes) {}

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

    void backward(const BackwardPass<Scalar>& pass) override {
        Scalar* d_bias = pass.g + shape_.out * shape_.in;
        for (Index i = 0; i < shape_.out; ++i) {
            const Scalar sum =
                kernels<Scalar>().masked_sum(one_pixel, pass.d_out.col(i).data(),
                                             shape_.relu ? pass.out.col(i).data() : nullptr);
            d_bias[i] = (pass.add ? d_bias[i] : Scalar{0}) + sum;
        }
        if (!pass.add) first_of_batch_ = true;
        keep(pass);
        if (kept_ == most_kept) finish(pass.g);
        if (pass.d_in == nullptr) return;
        multiply<Scalar>(shape_.in, lanes, shape_.out, {pass.x, 1, shape_.in}, pass.d_out.data(),
                         lanes, pass.d_in->data(), lanes);
    }

    // Entry (i, j) of the gradient is the sum of error i times input j over the kept samples, in
    // order.
    void finish(Scalar* g) override {
        if (kept_ == 0) return;
        const ProductEnds<Scalar> ends{.start = first_of_batch_ ? Start::zero : Start::sum};
        for (Index first = 0; first < shape_.in; first += lanes)
            multiply<Scalar>(shape_.out, std::min(lanes, shape_.in - first), kept_ * lanes,
                             {errors_.data(), most_kept * lanes, 1}, strip(first), lanes, g + first,
                             shape_.in, ends);
        first_of_batch_ = false;
        kept_ = 0;
    }

  private:
    // Every product that adds to the gradient of the weights reads and writes all of it, which
    // dominates the time of a wide layer. Therefore the errors and inputs of up to four panels are
    // kept for one product.
    static constexpr Index most_kept = 4;

    void keep(const BackwardPass<Scalar>& pass) {
        for (Index i = 0; i < shape_.out; ++i)
            std::copy_n(pass.d_out.col(i).data(), lanes,
                        errors_.data() + (i * most_kept + kept_) * lanes);
        for (Index first = 0; first < shape_.in; first += lanes)
            transpose(std::min(lanes, shape_.in - first), lanes, pass.in.col(first).data(), lanes,
                      strip(first) + kept_ * lanes * lanes, lanes);
        ++kept_;
    }

    // Returns 32 features of the kept samples, one sample per row. Strips this narrow stay in the
    // cache beside a tile of weights.
    [[nodiscard]] Scalar* strip(Index first) { return samples_.data() + first * most_kept * lanes; }

    std::string prefix_;
    DenseShape shape_;
    Index kept_ = 0;                                   // in panels
    bool first_of_batch_ = false;                      // what is kept starts a batch: overwrite g
    Eigen::Array<Scalar, Eigen::Dynamic, 1> errors_;   // {out, kept samples}
    Eigen::Array<Scalar, Eigen::Dynamic, 1> samples_;  // {in / 32, kept samples, 32}
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
