// Softmax: over the classes of samples, and over the keys that a token may see.
#pragma once

#include "models/kernels/elementary.hpp"

namespace paceline {

namespace {

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> largest(const Scalar* logits, Index classes, Index row) {
    using V = Lanes<Scalar>;
    V most = load<V>(logits);
    for (Index c = 1; c < classes; ++c) {
        const V z = load<V>(logits + c * row);
        most = z > most ? z : most;
    }
    return most;
}

template <class Scalar>
void softmax_exponentials(Scalar* logits, Index classes, Index row, Scalar* max, Scalar* sum) {
    using V = Lanes<Scalar>;
    const V most = largest(logits, classes, row);
    V all = {};
    for (Index c = 0; c < classes; ++c) {
        const V e = exp_of<Scalar>(load<V>(logits + c * row) - most);
        store(logits + c * row, e);
        all += e;
    }
    store(max, most);
    store(sum, all);
}

template <class Scalar>
void softmax_sums(const Scalar* logits, Index classes, Index row, Scalar* max, Scalar* sum) {
    using V = Lanes<Scalar>;
    const V most = largest(logits, classes, row);
    V all = {};
    for (Index c = 0; c < classes; ++c) all += exp_of<Scalar>(load<V>(logits + c * row) - most);
    store(max, most);
    store(sum, all);
}

template <class Scalar>
void scale_classes(Scalar* logits, Index classes, Index row, const Scalar* factor) {
    using V = Lanes<Scalar>;
    const V by = load<V>(factor);
    for (Index c = 0; c < classes; ++c) store(logits + c * row, load<V>(logits + c * row) * by);
}

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> lane_numbers() {
    Lanes<Scalar> numbers;
    for (unsigned lane = 0; lane < panel_lanes; ++lane) numbers[lane] = static_cast<Scalar>(lane);
    return numbers;
}

template <class Scalar>
void causal_softmax(Scalar* scores, Index keys, Index first, Scalar scale) {
    using V = Lanes<Scalar>;
    const V lane = lane_numbers<Scalar>();
    const V never = broadcast<V>(-static_cast<Scalar>(__builtin_inf()));
    V most = never;
    for (Index key = 0; key < keys; ++key) {
        V z = broadcast<V>(scale) * load<V>(scores + key * panel_lanes);
        z = lane < broadcast<V>(static_cast<Scalar>(key - first)) ? never : z;
        store(scores + key * panel_lanes, z);
        most = z > most ? z : most;
    }
    V sum = {};
    for (Index key = 0; key < keys; ++key) {
        const V e = exp_of<Scalar>(load<V>(scores + key * panel_lanes) - most);
        store(scores + key * panel_lanes, e);
        sum += e;
    }
    const V factor = broadcast<V>(Scalar{1}) / sum;
    for (Index key = 0; key < keys; ++key)
        store(scores + key * panel_lanes, load<V>(scores + key * panel_lanes) * factor);
}

template <class Scalar>
void causal_softmax_backward(const Scalar* p, Index keys, Scalar scale, Scalar* d) {
    using V = Lanes<Scalar>;
    V mean = {};
    for (Index at = 0; at < keys * panel_lanes; at += panel_lanes)
        mean = fused(load<V>(p + at), load<V>(d + at), mean);
    for (Index at = 0; at < keys * panel_lanes; at += panel_lanes)
        store(d + at, broadcast<V>(scale) * load<V>(p + at) * (load<V>(d + at) - mean));
}

}  // namespace

}  // namespace paceline
