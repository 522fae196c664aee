#include "models/nets/layers/conv_layer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/nets/layers/product.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

constexpr Index taps = 9;

// A tap in one direction that reaches the input pixels y with y mod stride = parity. It comes from
// output pixel floor(y / stride) + step.
struct Reach {
    Index tap;
    Index step;
};

std::vector<Reach> reaches(Index parity, Index stride) {
    std::vector<Reach> found;
    for (Index tap = 0; tap < 3; ++tap)
        if ((parity + 1 - tap + stride) % stride == 0)
            found.push_back({tap, (parity + 1 - tap) / stride});
    return found;
}

// The input pixels of one parity: which taps reach them, and from where.
struct ParityClass {
    Index y;
    Index x;
    std::vector<Index> kernel;  // tap numbers
    std::vector<Index> d_rows;  // by (output channel, tap): where the errors are
    Index first_weight;         // within the turned weights
};

template <class Scalar>
class ConvLayer final : public Layer<Scalar> {
  public:
    ConvLayer(std::string name, const ConvShape& shape)
        : name_(std::move(name)), shape_(shape), out_(shape.out()), turned_(weights()) {
        PACELINE_CHECK(shape_.stride == 1 || shape_.stride == 2, "a stride is 1 or 2");
        for (Index c = 0; c < shape_.in.channels; ++c)
            for (Index tap = 0; tap < taps; ++tap)
                in_rows_.push_back(shape_.in.feature(c, tap / 3 - 1, tap % 3 - 1) * lanes);
        Index first_weight = 0;
        for (Index y = 0; y < shape_.stride; ++y)
            for (Index x = 0; x < shape_.stride; ++x) {
                classes_.push_back(make_class(y, x, first_weight));
                first_weight += shape_.in.channels * std::ssize(classes_.back().d_rows);
            }
    }

    [[nodiscard]] Index in_features() const override { return shape_.in.features(); }
    [[nodiscard]] Index out_features() const override { return out_.features(); }

    [[nodiscard]] std::vector<Tensor> tensors() const override {
        std::vector<Tensor> all{{name_ + ".weight", {out_.channels, shape_.in.channels, 3, 3}}};
        if (shape_.bias) all.push_back({name_ + ".bias", {out_.channels}});
        return all;
    }

    [[nodiscard]] std::vector<double> tensor_macs() const override {
        std::vector<double> all{static_cast<double>(weights() * out_.height * out_.width)};
        if (shape_.bias) all.push_back(0);
        return all;
    }

    void initialize(RandomStream& stream, Scalar* x) const override {
        draw_normal(stream, std::sqrt(2 / static_cast<double>(depth())), weights(), x);
        if (shape_.bias) std::fill_n(x + weights(), out_.channels, Scalar{0});
    }

    void forward(const Scalar* x, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        const ProductEnds<Scalar> ends{.start = shape_.bias ? Start::bias : Start::zero,
                                       .bias = shape_.bias ? x + weights() : nullptr,
                                       .finish = shape_.relu ? Finish::relu : Finish::plain};
        for (Index y = 0; y < out_.height; ++y)
            for (Index column = 0; column < out_.width; ++column) {
                const Index seen = (y * (shape_.in.width + 2) + column) * shape_.stride * lanes;
                multiply_gathered<Scalar>(
                    out_.channels, depth(), {x, depth(), 1}, in.data() + seen, in_rows_.data(),
                    out.data() + out_.feature(0, y, column) * lanes, plane_size(out_), ends);
            }
    }

    void backward(const BackwardPass<Scalar>& pass) override {
        if (shape_.relu || shape_.bias) backward_ends(pass);
        backward_weights(pass);
        if (pass.d_in != nullptr) backward_input(pass);
    }

  private:
    [[nodiscard]] Index depth() const { return shape_.in.channels * taps; }
    [[nodiscard]] Index weights() const { return out_.channels * depth(); }
    [[nodiscard]] static Index plane_size(const ImageExtent& image) {
        return (image.height + 2) * (image.width + 2) * lanes;
    }

    [[nodiscard]] ParityClass make_class(Index y, Index x, Index first_weight) const {
        ParityClass made{y, x, {}, {}, first_weight};
        for (const Reach& row : reaches(y, shape_.stride))
            for (const Reach& column : reaches(x, shape_.stride))
                made.kernel.push_back(row.tap * 3 + column.tap);
        for (Index o = 0; o < out_.channels; ++o)
            for (const Reach& row : reaches(y, shape_.stride))
                for (const Reach& column : reaches(x, shape_.stride))
                    made.d_rows.push_back(out_.feature(o, row.step, column.step) * lanes);
        return made;
    }

    // Applies the mask of the ReLU and computes the gradient of the bias, in one pass over the
    // errors.
    void backward_ends(const BackwardPass<Scalar>& pass) {
        for (Index o = 0; o < out_.channels; ++o) {
            const Index first = out_.feature(o, 0, 0);
            const Scalar sum =
                kernels<Scalar>().masked_sum(out_.plane(), pass.d_out.col(first).data(),
                                             shape_.relu ? pass.out.col(first).data() : nullptr);
            if (!shape_.bias) continue;
            Scalar& d_bias = pass.g[weights() + o];
            d_bias = (pass.add ? d_bias : Scalar{0}) + sum;
        }
    }

    void backward_weights(const BackwardPass<Scalar>& pass) {
        if (!pass.add) std::fill_n(pass.g, weights(), Scalar{0});
        const Index in_row = (shape_.in.width + 2) * lanes;
        const ErrorGrid errors{out_.height, out_.width, (out_.width + 2) * lanes};
        const InputGrid seen{shape_.stride * in_row, shape_.stride * lanes, in_row};
        for (Index c = 0; c < shape_.in.channels; ++c)
            correlate_3x3(out_.channels, pass.d_out.data() + out_.feature(0, 0, 0) * lanes,
                          plane_size(out_), errors, pass.in.data() + c * plane_size(shape_.in),
                          seen, pass.g + c * taps, depth());
    }

    // Writes the turned weights of a class as {in, out x taps of the class}.
    void turn(const Scalar* x, const ParityClass& parity) {
        Scalar* turned = turned_.data() + parity.first_weight;
        for (Index c = 0; c < shape_.in.channels; ++c)
            for (Index o = 0; o < out_.channels; ++o)
                for (const Index tap : parity.kernel) *turned++ = x[o * depth() + c * taps + tap];
    }

    void backward_input(const BackwardPass<Scalar>& pass) {
        for (const ParityClass& parity : classes_) {
            turn(pass.x, parity);
            const Index sums = std::ssize(parity.d_rows);
            const Strided<Scalar> turned{turned_.data() + parity.first_weight, sums, 1};
            for (Index y = parity.y; y < shape_.in.height; y += shape_.stride)
                for (Index x = parity.x; x < shape_.in.width; x += shape_.stride) {
                    const Index from =
                        (y / shape_.stride * (out_.width + 2) + x / shape_.stride) * lanes;
                    multiply_gathered<Scalar>(
                        shape_.in.channels, sums, turned, pass.d_out.data() + from,
                        parity.d_rows.data(),
                        pass.d_in->data() + shape_.in.feature(0, y, x) * lanes,
                        plane_size(shape_.in));
                }
        }
    }

    std::string name_;
    ConvShape shape_;
    ImageExtent out_;
    std::vector<Index> in_rows_;  // by (input channel, tap), what the first pixel's kernel sees
    std::vector<ParityClass> classes_;
    Eigen::Array<Scalar, Eigen::Dynamic, 1> turned_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_conv_layer(const std::string& name, const ConvShape& shape) {
    return std::make_unique<ConvLayer<Scalar>>(name, shape);
}

template std::unique_ptr<Layer<float>> make_conv_layer(const std::string&, const ConvShape&);
template std::unique_ptr<Layer<double>> make_conv_layer(const std::string&, const ConvShape&);

}  // namespace paceline
