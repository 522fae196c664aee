#include "models/nets/lstm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include <boost/random/uniform_real_distribution.hpp>
#include <fmt/format.h>

#include "models/nets/layers/lstm_layer.hpp"
#include "models/nets/layers/product.hpp"
#include "models/nets/layers/transpose.hpp"
#include "models/nets/softmax.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Eigen::Index;

LayoutPtr layout_of(const LstmShape& shape) {
    std::vector<Tensor> tensors{{"embedding", {shape.vocabulary, shape.width}}};
    for (int layer = 0; layer < shape.layers; ++layer) {
        const std::string name = fmt::format("lstm{}", layer + 1);
        const Index in = layer == 0 ? shape.width : shape.hidden;
        tensors.push_back({name + ".input", {4 * shape.hidden, in}});
        tensors.push_back({name + ".recurrent", {4 * shape.hidden, shape.hidden}});
        tensors.push_back({name + ".bias", {4 * shape.hidden}});
    }
    if (!shape.tied) tensors.push_back({"output.weight", {shape.vocabulary, shape.hidden}});
    tensors.push_back({"output.bias", {shape.vocabulary}});
    return std::make_shared<const Layout>(std::move(tensors));
}

template <class Scalar>
class Lstm final : public Net<Scalar> {
  public:
    using typename Net<Scalar>::Parameters;

    explicit Lstm(const LstmShape& shape) : shape_(shape), layout_(layout_of(shape)) {
        PACELINE_CHECK(shape.layers >= 1, "an LSTM has a layer");
        PACELINE_CHECK(!shape.tied || shape.width == shape.hidden,
                       "a tied embedding is as wide as the hidden state");
        for (int layer = 0; layer < shape.layers; ++layer)
            layers_.emplace_back(layer == 0 ? shape.width : shape.hidden, shape.hidden);
    }

    [[nodiscard]] const LayoutPtr& layout() const override { return layout_; }

    void initialize(RandomStream& stream, Parameters& x) const override {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        const double bound = 1 / std::sqrt(static_cast<double>(shape_.hidden));
        boost::random::uniform_real_distribution<double> uniform(-bound, bound);
        for (std::size_t t = 0; t < layout_->tensors().size(); ++t) {
            const Tensor& tensor = layout_->tensors()[t];
            auto values = x.segment(layout_->offset(t), tensor.entries());
            if (tensor.compressible())
                for (Scalar& value : values) value = static_cast<Scalar>(uniform(stream));
            else
                values.setZero();
        }
        for (std::size_t layer = 0; layer < layers_.size(); ++layer)
            x.segment(layout_->offset(bias_tensor(layer)) + shape_.hidden, shape_.hidden).setOnes();
    }

    double gradient(const Parameters& x, const Samples& batch, Parameters& g) override {
        start(x, batch);
        g.resize(x.size());
        const auto predictions = static_cast<double>(batch.count() * steps_);
        double loss = 0;
        for_each_panel(batch.count(), [&](Index first, Index count) {
            embed(x, batch, first, count);
            forward(x);
            loss +=
                backward_output(x, batch, first, count, static_cast<Scalar>(1 / predictions), g);
            backward_layers(x, first > 0, g);
            backward_embedding(batch, first, count, g);
        });
        return loss / predictions;
    }

    [[nodiscard]] Score score(const Parameters& x, const Samples& batch) override {
        start(x, batch);
        Score sum;
        for_each_panel(batch.count(), [&](Index first, Index count) {
            embed(x, batch, first, count);
            forward(x);
            for (Index step = 0; step < steps_; ++step) {
                output(x, step, 0);
                sum += softmax_score<Scalar>(logits_.data(), shape_.vocabulary, logit_row_,
                                             targets(batch, first, count, step));
            }
        });
        return sum;
    }

    // An embedding is looked up, not multiplied, so it costs nothing unless it is also the output's
    // matrix.
    [[nodiscard]] std::vector<double> tensor_macs() const override {
        std::vector<double> macs;
        const auto steps = static_cast<double>(shape_.steps);
        for (const Tensor& tensor : layout_->tensors())
            macs.push_back(tensor.compressible() ? steps * static_cast<double>(tensor.entries())
                                                 : 0);
        if (!shape_.tied) macs.front() = 0;
        return macs;
    }

    [[nodiscard]] std::unique_ptr<Net<Scalar>> clone() const override {
        return std::make_unique<Lstm>(shape_);
    }

  private:
    using ConstTensors = typename LstmLayer<Scalar>::template Tensors<const Scalar>;
    using MutableTensors = typename LstmLayer<Scalar>::template Tensors<Scalar>;

    // Tensor 0 is the embedding, and three follow per layer.
    [[nodiscard]] static std::size_t bias_tensor(std::size_t layer) { return 3 * layer + 3; }
    [[nodiscard]] Index layer_offset(std::size_t layer, std::size_t tensor) const {
        return layout_->offset(1 + 3 * layer + tensor);
    }
    [[nodiscard]] Index output_weight() const {
        return shape_.tied ? 0 : layout_->offset(layout_->tensors().size() - 2);
    }
    [[nodiscard]] Index output_bias() const {
        return layout_->offset(layout_->tensors().size() - 1);
    }
    [[nodiscard]] ConstTensors tensors(const Parameters& x, std::size_t layer) const {
        return {x.data() + layer_offset(layer, 0), x.data() + layer_offset(layer, 1),
                x.data() + layer_offset(layer, 2)};
    }

    void start(const Parameters& x, const Samples& batch) {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        PACELINE_CHECK(batch.tokens.cols() > 0, "a batch has a sample");
        PACELINE_CHECK(batch.tokens.rows() > 1, "a sample has a token to predict");
        PACELINE_CHECK(batch.tokens.minCoeff() >= 0, "tokens count from 0");
        PACELINE_CHECK(batch.tokens.maxCoeff() < shape_.vocabulary, "tokens are in the vocabulary");
        steps_ = batch.tokens.rows() - 1;
        reserve();
    }

    void reserve() {
        if (steps_ <= room_) return;
        room_ = steps_;
        for (auto& layer : layers_) layer.reserve(steps_);
        in_.resize(lanes, room_ * shape_.width);
        d_in_.resize(lanes, room_ * shape_.width);
        in_samples_.resize(shape_.width, room_ * lanes);
        constexpr Index most_logits = Index{1} << 20;
        group_ = std::clamp<Index>(most_logits / (shape_.vocabulary * lanes), 1, room_);
        logit_row_ = group_ * lanes + lanes / 2;  // the gap, as in LstmLayer
        logits_.resize(shape_.vocabulary * logit_row_);
    }

    [[nodiscard]] std::span<const int> targets(const Samples& batch, Index first, Index count,
                                               Index step) {
        for (Index lane = 0; lane < count; ++lane)
            targets_[static_cast<std::size_t>(lane)] = batch.tokens(step + 1, first + lane);
        return {targets_.data(), static_cast<std::size_t>(count)};
    }

    // Unused lanes are set to zero.
    void embed(const Parameters& x, const Samples& batch, Index first, Index count) {
        const Index width = shape_.width;
        for (Index step = 0; step < steps_; ++step) {
            for (Index lane = 0; lane < count; ++lane)
                in_samples_.col(step * lanes + lane) =
                    x.segment(batch.tokens(step, first + lane) * width, width);
            in_samples_.middleCols(step * lanes + count, lanes - count).setZero();
            transpose(lanes, width, in_samples_.col(step * lanes).data(), width,
                      in_.col(step * width).data(), lanes);
        }
    }

    void forward(const Parameters& x) {
        for (std::size_t i = 0; i < layers_.size(); ++i)
            layers_[i].forward(tensors(x, i), steps_, i == 0 ? in_ : layers_[i - 1].out());
    }

    // Computes the logits of a step, stored as number `place` of its group.
    void output(const Parameters& x, Index step, Index place) {
        multiply<Scalar>(shape_.vocabulary, lanes, shape_.hidden,
                         {x.data() + output_weight(), shape_.hidden, 1},
                         layers_.back().out().col(step * shape_.hidden).data(), lanes,
                         logits_.data() + place * lanes, logit_row_,
                         {.start = Start::bias, .bias = x.data() + output_bias()});
    }

    double backward_output(const Parameters& x, const Samples& batch, Index first, Index count,
                           Scalar weight, Parameters& g) {
        const Index hidden = shape_.hidden;
        LstmLayer<Scalar>& top = layers_.back();
        double loss = 0;
        for (Index from = 0; from < steps_; from += group_) {
            const Index size = std::min(group_, steps_ - from);
            for (Index place = 0; place < size; ++place) {
                output(x, from + place, place);
                Scalar* logits = logits_.data() + place * lanes;
                loss += softmax_gradient(logits, shape_.vocabulary, logit_row_,
                                         targets(batch, first, count, from + place), weight);
                multiply<Scalar>(hidden, lanes, shape_.vocabulary,
                                 {x.data() + output_weight(), 1, hidden}, logits, logit_row_,
                                 top.d_out().col((from + place) * hidden).data(), lanes);
            }
            const bool add = first > 0 || from > 0;
            multiply<Scalar>(
                shape_.vocabulary, hidden, size * lanes, {logits_.data(), logit_row_, 1},
                top.out_samples() + from * lanes * hidden, hidden, g.data() + output_weight(),
                hidden, {.start = add ? Start::sum : Start::zero});
            for (Index token = 0; token < shape_.vocabulary; ++token) {
                Scalar& d_bias = g[output_bias() + token];
                const Scalar sum = kernels<Scalar>().masked_sum(
                    {1, size, 0}, logits_.data() + token * logit_row_, nullptr);
                d_bias = (add ? d_bias : Scalar{0}) + sum;
            }
        }
        // A tied matrix already holds the output's part, to which the embedding's is added.
        if (!shape_.tied && first == 0) g.head(shape_.vocabulary * shape_.width).setZero();
        return loss;
    }

    void backward_layers(const Parameters& x, bool add, Parameters& g) {
        for (std::size_t i = layers_.size(); i-- > 0;) {
            const MutableTensors d{g.data() + layer_offset(i, 0), g.data() + layer_offset(i, 1),
                                   g.data() + layer_offset(i, 2)};
            layers_[i].backward(tensors(x, i), steps_,
                                i == 0 ? in_samples_.data() : layers_[i - 1].out_samples(),
                                i == 0 ? d_in_ : layers_[i - 1].d_out(), d, add);
        }
    }

    void backward_embedding(const Samples& batch, Index first, Index count, Parameters& g) {
        const Index width = shape_.width;
        for (Index step = 0; step < steps_; ++step) {
            transpose(width, lanes, d_in_.col(step * width).data(), lanes,
                      in_samples_.col(step * lanes).data(), width);
            for (Index lane = 0; lane < count; ++lane)
                g.segment(batch.tokens(step, first + lane) * width, width) +=
                    in_samples_.col(step * lanes + lane);
        }
    }

    LstmShape shape_;
    LayoutPtr layout_;
    std::vector<LstmLayer<Scalar>> layers_;

    Index steps_ = 0;  // of the current batch
    Index room_ = 0;   // steps that the members below have memory for
    Index group_ = 0;  // steps whose logits are stored at once
    Index logit_row_ = 0;
    std::array<int, lanes> targets_{};
    Panel<Scalar> in_;
    Panel<Scalar> d_in_;
    Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> in_samples_;  // then its gradient
    Eigen::Array<Scalar, Eigen::Dynamic, 1> logits_;                    // then their gradient
};

}  // namespace

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_lstm(const LstmShape& shape) {
    return std::make_unique<Lstm<Scalar>>(shape);
}

template std::unique_ptr<Net<float>> make_lstm(const LstmShape&);
template std::unique_ptr<Net<double>> make_lstm(const LstmShape&);

}  // namespace paceline
