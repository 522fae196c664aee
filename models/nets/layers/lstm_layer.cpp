#include "models/nets/layers/lstm_layer.hpp"

#include "models/nets/layers/product.hpp"
#include "models/nets/layers/transpose.hpp"

namespace paceline {

template <class Scalar>
LstmLayer<Scalar>::LstmLayer(Index in, Index hidden)
    : in_(in), hidden_(hidden), d_c_(lanes, hidden), d_h_recurrent_(lanes, hidden) {}

template <class Scalar>
void LstmLayer<Scalar>::reserve(Index steps) {
    if (steps <= room_) return;
    room_ = steps;
    // The gap of half a panel row keeps units from being a power of two apart, where they would
    // share a few sets of the cache.
    gate_row_ = room_ * lanes + lanes / 2;
    gates_.resize(4 * hidden_ * gate_row_);
    for (Panel<Scalar>* panel : {&c_, &tanh_c_, &h_, &d_h_}) panel->resize(lanes, room_ * hidden_);
    h_samples_.resize(room_ * lanes * hidden_);
}

template <class Scalar>
void LstmLayer<Scalar>::forward(Tensors<const Scalar> x, Index steps, const Panel<Scalar>& in) {
    for (Index step = 0; step < steps; ++step) {
        multiply<Scalar>(4 * hidden_, lanes, in_, {x.input, in_, 1}, in.col(step * in_).data(),
                         lanes, gate(0, step), gate_row_, {.start = Start::bias, .bias = x.bias});
        if (step > 0)
            multiply<Scalar>(4 * hidden_, lanes, hidden_, {x.recurrent, hidden_, 1},
                             h_.col((step - 1) * hidden_).data(), lanes, gate(0, step), gate_row_,
                             {.start = Start::sum});
        activate(step);
        transpose(hidden_, lanes, h_.col(step * hidden_).data(), lanes,
                  h_samples_.data() + step * lanes * hidden_, hidden_);
    }
}

template <class Scalar>
void LstmLayer<Scalar>::activate(Index step) {
    kernels<Scalar>().lstm_forward(at(step));
}

template <class Scalar>
void LstmLayer<Scalar>::backward(Tensors<const Scalar> x, Index steps, const Scalar* in_samples,
                                 Panel<Scalar>& d_in, Tensors<Scalar> g, bool add) {
    d_c_.setZero();
    d_h_recurrent_.setZero();
    for (Index step = steps; step-- > 0;) {
        backward_step(step);
        if (step > 0)
            multiply<Scalar>(hidden_, lanes, 4 * hidden_, {x.recurrent, 1, hidden_}, gate(0, step),
                             gate_row_, d_h_recurrent_.data(), lanes);
        multiply<Scalar>(in_, lanes, 4 * hidden_, {x.input, 1, in_}, gate(0, step), gate_row_,
                         d_in.col(step * in_).data(), lanes);
    }
    backward_weights(steps, in_samples, g, add);
}

template <class Scalar>
void LstmLayer<Scalar>::backward_step(Index step) {
    kernels<Scalar>().lstm_backward(
        at(step), {d_h_.col(step * hidden_).data(), d_h_recurrent_.data(), d_c_.data()});
}

template <class Scalar>
LstmStep<Scalar> LstmLayer<Scalar>::at(Index step) {
    const Index first = step * hidden_;
    return {.units = hidden_,
            .gates = gate(0, step),
            .gate_row = gate_row_,
            .c_before = step > 0 ? c_.col(first - hidden_).data() : nullptr,
            .c = c_.col(first).data(),
            .tanh_c = tanh_c_.col(first).data(),
            .h = h_.col(first).data()};
}

template <class Scalar>
void LstmLayer<Scalar>::backward_weights(Index steps, const Scalar* in_samples, Tensors<Scalar> g,
                                         bool add) {
    const ProductEnds<Scalar> ends{.start = add ? Start::sum : Start::zero};
    const Scalar* d = gates_.data();
    multiply<Scalar>(4 * hidden_, in_, steps * lanes, {d, gate_row_, 1}, in_samples, in_, g.input,
                     in_, ends);
    multiply<Scalar>(4 * hidden_, hidden_, (steps - 1) * lanes, {d + lanes, gate_row_, 1},
                     h_samples_.data(), hidden_, g.recurrent, hidden_, ends);
    for (Index unit = 0; unit < 4 * hidden_; ++unit) {
        const Scalar sum =
            kernels<Scalar>().masked_sum({1, steps, 0}, gates_.data() + unit * gate_row_, nullptr);
        g.bias[unit] = (add ? g.bias[unit] : Scalar{0}) + sum;
    }
}

template class LstmLayer<float>;
template class LstmLayer<double>;

}  // namespace paceline
