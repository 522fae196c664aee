#include "models/nets/linear_regression.hpp"

#include <numeric>

#include "models/kernels/kernels.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

LayoutPtr layout_of(const LinearRegressionShape& shape) {
    std::vector<Tensor> tensors{{"weight", {1, shape.features}}};
    if (shape.bias) tensors.push_back({"bias", {1}});
    return std::make_shared<const Layout>(std::move(tensors));
}

template <class Scalar>
class LinearRegression final : public Net<Scalar> {
  public:
    using typename Net<Scalar>::Parameters;

    explicit LinearRegression(const LinearRegressionShape& shape)
        : shape_(shape), layout_(layout_of(shape)) {}

    [[nodiscard]] const LayoutPtr& layout() const override { return layout_; }

    void initialize(RandomStream&, Parameters& x) const override {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        x.setZero();
    }

    double gradient(const Parameters& x, const Samples& batch, Parameters& g) override {
        predict(x, batch);
        g.setZero(x.size());
        const Scalar weight = Scalar{1} / static_cast<Scalar>(batch.count());
        for (Index sample = 0; sample < batch.count(); ++sample)
            g.head(shape_.features) +=
                weight * residual_[sample] * batch.inputs.col(sample).template cast<Scalar>();
        if (shape_.bias) g[shape_.features] = weight * sum_of_residuals(batch.count());
        return half_square(batch) / static_cast<double>(batch.count());
    }

    [[nodiscard]] Score score(const Parameters& x, const Samples& batch) override {
        predict(x, batch);
        return {.loss = half_square(batch), .correct = 0, .predictions = batch.count()};
    }

    [[nodiscard]] std::vector<double> tensor_macs() const override {
        std::vector<double> macs{static_cast<double>(shape_.features)};
        if (shape_.bias) macs.push_back(0);
        return macs;
    }

    [[nodiscard]] std::unique_ptr<Net<Scalar>> clone() const override {
        return std::make_unique<LinearRegression>(shape_);
    }

  private:
    void predict(const Parameters& x, const Samples& batch) {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        PACELINE_CHECK(batch.count() > 0, "a batch has a sample");
        PACELINE_CHECK(batch.inputs.rows() == shape_.features, "a sample has the net's features");
        PACELINE_CHECK(batch.targets.size() == batch.count(), "each sample has a target");
        if (residual_.size() < batch.count()) residual_.resize(batch.count());
        const Scalar bias = shape_.bias ? x[shape_.features] : Scalar{0};
        for (Index sample = 0; sample < batch.count(); ++sample)
            residual_[sample] = kernels<Scalar>().dot_product(
                                    shape_.features, batch.inputs.col(sample).data(), x.data()) +
                                bias - static_cast<Scalar>(batch.targets[sample]);
    }

    [[nodiscard]] Scalar sum_of_residuals(Index count) const {
        return std::accumulate(residual_.data(), residual_.data() + count, Scalar{0});
    }

    [[nodiscard]] double half_square(const Samples& batch) const {
        double sum = 0;
        for (Index sample = 0; sample < batch.count(); ++sample) {
            const auto off = static_cast<double>(residual_[sample]);
            sum += off * off;
        }
        return sum / 2;
    }

    LinearRegressionShape shape_;
    LayoutPtr layout_;
    Parameters residual_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_linear_regression(const LinearRegressionShape& shape) {
    return std::make_unique<LinearRegression<Scalar>>(shape);
}

template std::unique_ptr<Net<float>> make_linear_regression(const LinearRegressionShape&);
template std::unique_ptr<Net<double>> make_linear_regression(const LinearRegressionShape&);

}  // namespace paceline
