#include "models/nets/transformer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/nets/layers/layer.hpp"
#include "models/nets/layers/product.hpp"
#include "models/nets/layers/transformer_block.hpp"
#include "models/nets/layers/transpose.hpp"
#include "models/nets/softmax.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

constexpr std::size_t tensors_of_block = 12;
constexpr std::size_t first_block_tensor = 2;  // after the embedding and the positions

void add_block(const std::string& name, Index width, Index inner, std::vector<Tensor>& tensors) {
    const auto add_norm = [&](const std::string& norm) {
        tensors.push_back({name + norm + ".scale", {width}});
        tensors.push_back({name + norm + ".shift", {width}});
    };
    const auto add_dense = [&](const std::string& dense, Index out, Index in) {
        tensors.push_back({name + dense + ".weight", {out, in}});
        tensors.push_back({name + dense + ".bias", {out}});
    };
    add_norm("norm1");
    add_dense("qkv", 3 * width, width);
    add_dense("projection", width, width);
    add_norm("norm2");
    add_dense("inner", inner, width);
    add_dense("outer", width, inner);
}

LayoutPtr transformer_layout(const TransformerShape& shape) {
    std::vector<Tensor> tensors{{"embedding", {shape.vocabulary, shape.width}},
                                {"position", {shape.context, shape.width}}};
    for (int layer = 0; layer < shape.layers; ++layer)
        add_block(fmt::format("block{}.", layer + 1), shape.width, shape.inner, tensors);
    tensors.push_back({"norm.scale", {shape.width}});
    tensors.push_back({"norm.shift", {shape.width}});
    if (!shape.tied) tensors.push_back({"output.weight", {shape.vocabulary, shape.width}});
    return std::make_shared<const Layout>(std::move(tensors));
}

double start_deviation(const std::string& tensor, int layers) {
    if (tensor == "position") return 0.01;
    const bool adds_up = tensor.ends_with("projection.weight") || tensor.ends_with("outer.weight");
    return adds_up ? 0.02 / std::sqrt(2.0 * layers) : 0.02;
}

Index panels_of(Index steps) {
    return (steps + lanes - 1) / lanes;
}

template <class Scalar>
class Transformer final : public Net<Scalar> {
  public:
    using typename Net<Scalar>::Parameters;

    explicit Transformer(const TransformerShape& shape)
        : shape_(shape),
          layout_(transformer_layout(shape)),
          norm_(shape.width,
                layout_->offset(first_block_tensor +
                                tensors_of_block * static_cast<std::size_t>(shape.layers))),
          normed_(shape.width),
          d_(shape.width),
          scratch_(block_shape()) {
        PACELINE_CHECK(shape.layers >= 1, "a transformer has a block");
        Index offset = layout_->offset(first_block_tensor);
        for (int layer = 0; layer < shape.layers; ++layer) {
            blocks_.emplace_back(block_shape(), offset);
            offset = blocks_.back().end();
            between_.emplace_back(shape.width);
        }
        between_.emplace_back(shape.width);
    }

    [[nodiscard]] const LayoutPtr& layout() const override { return layout_; }

    void initialize(RandomStream& stream, Parameters& x) const override {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        for (std::size_t t = 0; t < layout_->tensors().size(); ++t) {
            const Tensor& tensor = layout_->tensors()[t];
            Scalar* values = x.data() + layout_->offset(t);
            if (tensor.compressible())
                draw_normal(stream, start_deviation(tensor.name, shape_.layers), tensor.entries(),
                            values);
            else
                std::fill_n(values, tensor.entries(),
                            static_cast<Scalar>(tensor.name.ends_with(".scale") ? 1 : 0));
        }
    }

    double gradient(const Parameters& x, const Samples& batch, Parameters& g) override {
        start(x, batch);
        g.setZero(x.size());
        const auto predictions = static_cast<double>(batch.count() * steps_);
        double loss = 0;
        for_each_part(batch, [&](Index first, const Sequences& sequences) {
            forward(x, batch, first, sequences);
            loss += backward_output(x, batch, first, static_cast<Scalar>(1 / predictions), g);
            d_.set_zero();
            norm_.backward(x.data(), panels_, between_.back(), scratch_.narrow, d_, g.data());
            for (std::size_t i = blocks_.size(); i-- > 0;)
                blocks_[i].backward(x.data(), sequences, between_[i], d_, scratch_, g.data());
            backward_embedding(batch, first, g);
        });
        return loss / predictions;
    }

    [[nodiscard]] Score score(const Parameters& x, const Samples& batch) override {
        start(x, batch);
        Score sum;
        for_each_part(batch, [&](Index first, const Sequences& sequences) {
            forward(x, batch, first, sequences);
            for_each_group([&](Index from, Index size) {
                output(x, from, size);
                for (Index place = 0; place < size; ++place)
                    sum += softmax_score<Scalar>(logits_.data() + place * lanes, shape_.vocabulary,
                                                 logit_row_, targets(batch, first, from + place));
            });
        });
        return sum;
    }

    // An embedding is looked up, not multiplied, so it costs nothing unless it is also the output's
    // matrix.
    [[nodiscard]] std::vector<double> tensor_macs() const override {
        const auto steps = static_cast<double>(shape_.context);
        const auto attention = 2 * steps * steps * static_cast<double>(shape_.width);
        std::vector<double> macs;
        for (const Tensor& tensor : layout_->tensors()) {
            const double products =
                tensor.compressible() ? steps * static_cast<double>(tensor.entries()) : 0;
            macs.push_back(products + (tensor.name.ends_with("qkv.weight") ? attention : 0));
        }
        if (!shape_.tied) macs[0] = 0;
        macs[1] = 0;
        return macs;
    }

    [[nodiscard]] std::unique_ptr<Net<Scalar>> clone() const override {
        return std::make_unique<Transformer>(shape_);
    }

  private:
    [[nodiscard]] TransformerBlockShape block_shape() const {
        return {.width = shape_.width, .heads = shape_.heads, .inner = shape_.inner};
    }
    [[nodiscard]] Index output_weight() const {
        return shape_.tied ? 0 : layout_->offset(layout_->tensors().size() - 1);
    }

    void start(const Parameters& x, const Samples& batch) {
        PACELINE_CHECK(x.size() == layout_->entries(), "one parameter per entry of the layout");
        PACELINE_CHECK(batch.tokens.cols() > 0, "a batch has a sample");
        PACELINE_CHECK(batch.tokens.rows() > 1, "a sample has a token to predict");
        PACELINE_CHECK(batch.tokens.rows() <= shape_.context + 1, "a sample fits in the context");
        PACELINE_CHECK(batch.tokens.minCoeff() >= 0, "tokens count from 0");
        PACELINE_CHECK(batch.tokens.maxCoeff() < shape_.vocabulary, "tokens are in the vocabulary");
        steps_ = batch.tokens.rows() - 1;
        reserve(std::min(batch.count(), transformer_sequences_at_once(steps_)));
    }

    void reserve(Index count) {
        const Index panels = panels_of(steps_);
        for (auto& block : blocks_) block.reserve(count, panels);
        for (auto& matrix : between_) matrix.reserve(count * panels);
        norm_.reserve(count * panels);
        normed_.reserve(count * panels);
        d_.reserve(count * panels);
        scratch_.reserve(count * panels);
        tokens_.resize(shape_.width, lanes);
        constexpr Index most_logits = Index{1} << 20;
        const Index group =
            std::clamp<Index>(most_logits / (shape_.vocabulary * lanes), 1, count * panels);
        if (group <= group_) return;
        group_ = group;
        logit_row_ = group_ * lanes + lanes / 2;  // the gap, as in TokenMatrix
        logits_.resize(shape_.vocabulary * logit_row_);
    }

    // Calls visit(first sample, sequences) for each part of a batch, in order.
    template <class Visit>
    void for_each_part(const Samples& batch, Visit visit) {
        const Index panels = panels_of(steps_);
        const Index most = transformer_sequences_at_once(steps_);
        for (Index first = 0; first < batch.count(); first += most) {
            const Index count = std::min(most, batch.count() - first);
            panels_ = count * panels;
            visit(first, Sequences{.count = count, .panels = panels, .row = d_.row()});
        }
    }

    // Calls visit(first panel, panels) for as many panels as have their logits stored at once.
    template <class Visit>
    void for_each_group(Visit visit) {
        for (Index from = 0; from < panels_; from += group_)
            visit(from, std::min(group_, panels_ - from));
    }

    /// The tokens of one panel: steps first, first + 1, ... of one sample.
    struct PanelTokens {
        Index sample;
        Index first;
        Index count;
    };
    [[nodiscard]] PanelTokens tokens_of(Index panel) const {
        const Index panels = panels_of(steps_);
        const Index first = panel % panels * lanes;
        return {panel / panels, first, std::min(lanes, steps_ - first)};
    }

    [[nodiscard]] std::span<const int> targets(const Samples& batch, Index first, Index panel) {
        const PanelTokens tokens = tokens_of(panel);
        for (Index lane = 0; lane < tokens.count; ++lane)
            targets_[static_cast<std::size_t>(lane)] =
                batch.tokens(tokens.first + lane + 1, first + tokens.sample);
        return {targets_.data(), static_cast<std::size_t>(tokens.count)};
    }

    void embed(const Parameters& x, const Samples& batch, Index first, Index panel) {
        const Index width = shape_.width;
        const PanelTokens tokens = tokens_of(panel);
        for (Index lane = 0; lane < tokens.count; ++lane) {
            const Index step = tokens.first + lane;
            tokens_.col(lane) =
                x.segment(batch.tokens(step, first + tokens.sample) * width, width) +
                x.segment(layout_->offset(1) + step * width, width);
        }
        tokens_.rightCols(lanes - tokens.count).setZero();
        transpose(lanes, width, tokens_.data(), width, between_[0].data() + panel * lanes,
                  between_[0].row());
    }

    void forward(const Parameters& x, const Samples& batch, Index first,
                 const Sequences& sequences) {
        for (Index panel = 0; panel < panels_; ++panel) embed(x, batch, first, panel);
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            blocks_[i].forward(x.data(), sequences, between_[i], between_[i + 1]);
        norm_.forward(x.data(), panels_, between_.back(), normed_);
    }

    // Computes the logits of a group of panels.
    void output(const Parameters& x, Index from, Index size) {
        multiply<Scalar>(shape_.vocabulary, size * lanes, shape_.width,
                         {x.data() + output_weight(), shape_.width, 1},
                         normed_.data() + from * lanes, normed_.row(), logits_.data(), logit_row_);
    }

    // Leaves the error of the final norm's output in scratch_.narrow.
    double backward_output(const Parameters& x, const Samples& batch, Index first, Scalar weight,
                           Parameters& g) {
        double loss = 0;
        for_each_group([&](Index from, Index size) {
            output(x, from, size);
            for (Index place = 0; place < size; ++place)
                loss += softmax_gradient(logits_.data() + place * lanes, shape_.vocabulary,
                                         logit_row_, targets(batch, first, from + place), weight);
            multiply<Scalar>(shape_.width, size * lanes, shape_.vocabulary,
                             {x.data() + output_weight(), 1, shape_.width}, logits_.data(),
                             logit_row_, scratch_.narrow.data() + from * lanes,
                             scratch_.narrow.row());
            add_token_products(shape_.vocabulary, shape_.width, size, logits_.data(), logit_row_,
                               normed_.data() + from * lanes, normed_.row(), scratch_.strip,
                               g.data() + output_weight());
        });
        return loss;
    }

    void backward_embedding(const Samples& batch, Index first, Parameters& g) {
        const Index width = shape_.width;
        for (Index panel = 0; panel < panels_; ++panel) {
            const PanelTokens tokens = tokens_of(panel);
            transpose(width, lanes, d_.data() + panel * lanes, d_.row(), tokens_.data(), width);
            for (Index lane = 0; lane < tokens.count; ++lane) {
                const Index step = tokens.first + lane;
                g.segment(batch.tokens(step, first + tokens.sample) * width, width) +=
                    tokens_.col(lane);
                g.segment(layout_->offset(1) + step * width, width) += tokens_.col(lane);
            }
        }
    }

    TransformerShape shape_;
    LayoutPtr layout_;
    std::vector<TransformerBlock<Scalar>> blocks_;
    TokenNorm<Scalar> norm_;

    Index steps_ = 0;   // of the current batch
    Index panels_ = 0;  // of the current part of it
    Index group_ = 0;   // panels whose logits are stored at once
    Index logit_row_ = 0;
    std::array<int, lanes> targets_{};
    std::vector<TokenMatrix<Scalar>> between_;  // between_[i] is what block i takes
    TokenMatrix<Scalar> normed_;
    TokenMatrix<Scalar> d_;
    TransformerScratch<Scalar> scratch_;
    Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> tokens_;  // of one panel, by token
    Eigen::Array<Scalar, Eigen::Dynamic, 1> logits_;                // then their gradient
};

}  // namespace

Index transformer_sequences_at_once(Index steps) {
    constexpr Index most_panels = 8;  // measured: 4 are as fast, 16 are 3 % slower
    return std::max<Index>(1, most_panels / panels_of(steps));
}

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_transformer(const TransformerShape& shape) {
    return std::make_unique<Transformer<Scalar>>(shape);
}

template std::unique_ptr<Net<float>> make_transformer(const TransformerShape&);
template std::unique_ptr<Net<double>> make_transformer(const TransformerShape&);

}  // namespace paceline
