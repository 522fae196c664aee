// One step of an LSTM, forward and backward.
#pragma once

#include "models/kernels/elementary.hpp"

namespace paceline {

namespace {

template <class Scalar>
void lstm_forward(const LstmStep<Scalar>& step) {
    using V = Lanes<Scalar>;
    for (Index unit = 0; unit < step.units; ++unit) {
        Scalar* gate = step.gates + unit * step.gate_row;
        const Index next = step.units * step.gate_row;
        const V i = logistic_of<Scalar>(load<V>(gate));
        const V f = logistic_of<Scalar>(load<V>(gate + next));
        const V g = tanh_of<Scalar>(load<V>(gate + 2 * next));
        const V o = logistic_of<Scalar>(load<V>(gate + 3 * next));
        store(gate, i);
        store(gate + next, f);
        store(gate + 2 * next, g);
        store(gate + 3 * next, o);
        const Index at = unit * panel_lanes;
        V c = i * g;
        if (step.c_before != nullptr) c = fused(f, load<V>(step.c_before + at), c);
        const V t = tanh_of<Scalar>(c);
        store(step.c + at, c);
        store(step.tanh_c + at, t);
        store(step.h + at, o * t);
    }
}

template <class Scalar>
void lstm_backward(const LstmStep<Scalar>& step, const LstmErrors<Scalar>& errors) {
    using V = Lanes<Scalar>;
    const V one = broadcast<V>(Scalar{1});
    for (Index unit = 0; unit < step.units; ++unit) {
        Scalar* gate = step.gates + unit * step.gate_row;
        const Index next = step.units * step.gate_row;
        const Index at = unit * panel_lanes;
        const V i = load<V>(gate);
        const V f = load<V>(gate + next);
        const V g = load<V>(gate + 2 * next);
        const V o = load<V>(gate + 3 * next);
        const V d_h = load<V>(errors.d_h + at) + load<V>(errors.d_h_recurrent + at);
        const V t = load<V>(step.tanh_c + at);
        const V d_c = load<V>(errors.d_c + at) + d_h * o * (one - t * t);
        store(errors.d_c + at, d_c * f);
        V d_f = {};
        if (step.c_before != nullptr) d_f = d_c * load<V>(step.c_before + at) * f * (one - f);
        store(gate, d_c * g * i * (one - i));
        store(gate + next, d_f);
        store(gate + 2 * next, d_c * i * (one - g * g));
        store(gate + 3 * next, d_h * t * o * (one - o));
    }
}

}  // namespace

}  // namespace paceline
