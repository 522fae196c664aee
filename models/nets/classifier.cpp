#include "models/nets/classifier.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "models/nets/layers/transpose.hpp"
#include "models/nets/softmax.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Eigen::Index;

template <class Scalar>
class Classifier final : public Net<Scalar> {
  public:
    using typename Net<Scalar>::Parameters;

    explicit Classifier(std::function<Layers<Scalar>()> build)
        : build_(std::move(build)),
          chain_(build_()),
          layout_(std::make_shared<const Layout>(chain_.tensors())),
          in_(zero_panel<Scalar>(chain_.in_features())),
          logits_(zero_panel<Scalar>(chain_.out_features())) {}

    [[nodiscard]] const LayoutPtr& layout() const override { return layout_; }

    void initialize(RandomStream& stream, Parameters& x) const override {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        chain_.initialize(stream, x.data());
    }

    double gradient(const Parameters& x, const Samples& batch, Parameters& g) override {
        check(x, batch);
        g.resize(x.size());
        const auto weight = Scalar{1} / static_cast<Scalar>(batch.count());
        double loss = 0;
        for_each_panel(batch.count(), [&](Index first, Index count) {
            forward(x, batch, first, count);
            loss += softmax_gradient(logits_.data(), logits_.cols(), lanes,
                                     labels(batch, first, count), weight);
            chain_.backward({.x = x.data(),
                             .in = in_,
                             .out = logits_,
                             .d_out = logits_,
                             .d_in = nullptr,
                             .g = g.data(),
                             .add = first > 0});
        });
        chain_.finish(g.data());
        return loss / static_cast<double>(batch.count());
    }

    [[nodiscard]] Score score(const Parameters& x, const Samples& batch) override {
        check(x, batch);
        Score sum;
        for_each_panel(batch.count(), [&](Index first, Index count) {
            forward(x, batch, first, count);
            sum += softmax_score<Scalar>(logits_.data(), logits_.cols(), lanes,
                                         labels(batch, first, count));
        });
        return sum;
    }

    [[nodiscard]] std::vector<double> tensor_macs() const override { return chain_.tensor_macs(); }

    [[nodiscard]] std::unique_ptr<Net<Scalar>> clone() const override {
        return std::make_unique<Classifier>(build_);
    }

  private:
    void check(const Parameters& x, const Samples& batch) const {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        PACELINE_CHECK(batch.count() > 0, "a batch has a sample");
        PACELINE_CHECK(batch.inputs.rows() == in_.cols(), "a sample has the features of the net");
        PACELINE_CHECK(batch.labels.size() == batch.count(), "each sample has a label");
    }

    static std::span<const int> labels(const Samples& batch, Index first, Index count) {
        return {batch.labels.data() + first, static_cast<std::size_t>(count)};
    }

    void forward(const Parameters& x, const Samples& batch, Index first, Index count) {
        if (count < lanes) in_.setZero();
        transpose(count, in_.cols(), batch.inputs.col(first).data(), in_.cols(), in_.data(), lanes);
        chain_.forward(x.data(), in_, logits_);
    }

    std::function<Layers<Scalar>()> build_;
    Chain<Scalar> chain_;
    LayoutPtr layout_;
    Panel<Scalar> in_;
    Panel<Scalar> logits_;  // later the gradient with respect to them
};

}  // namespace

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_classifier(std::function<Layers<Scalar>()> build) {
    return std::make_unique<Classifier<Scalar>>(std::move(build));
}

template std::unique_ptr<Net<float>> make_classifier(std::function<Layers<float>()>);
template std::unique_ptr<Net<double>> make_classifier(std::function<Layers<double>()>);

}  // namespace paceline
