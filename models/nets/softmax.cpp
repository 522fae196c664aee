#include "models/nets/softmax.hpp"

#include <cstddef>
#include <cstdint>

#include "models/nets/layers/lanes.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

void check_labels(std::span<const int> labels, Index classes) {
    PACELINE_CHECK(std::ssize(labels) <= lanes, "a panel has at most one label a lane");
    for (const int label : labels)
        PACELINE_CHECK(label >= 0 && label < classes, "a label is one of the classes");
}

// Returns the logits of the right classes.
template <class Scalar>
Lanes<Scalar> of_labels(const Scalar* logits, Index row, std::span<const int> labels) {
    Lanes<Scalar> right = Lanes<Scalar>::Zero();
    for (Index lane = 0; lane < std::ssize(labels); ++lane)
        right[lane] = logits[labels[static_cast<std::size_t>(lane)] * row + lane];
    return right;
}

template <class Scalar>
double sum_of_losses(const Lanes<Scalar>& sum, const Lanes<Scalar>& max, const Lanes<Scalar>& right,
                     Index count) {
    double loss = 0;
    for (Index lane = 0; lane < count; ++lane)
        loss += elementary::log(static_cast<double>(sum[lane])) + static_cast<double>(max[lane]) -
                static_cast<double>(right[lane]);
    return loss;
}

}  // namespace

template <class Scalar>
double softmax_gradient(Scalar* logits, Index classes, Index row, std::span<const int> labels,
                        Scalar weight) {
    check_labels(labels, classes);
    const Index count = std::ssize(labels);
    const Lanes<Scalar> right = of_labels(logits, row, labels);
    Lanes<Scalar> max;
    Lanes<Scalar> sum;
    kernels<Scalar>().softmax_exponentials(logits, classes, row, max.data(), sum.data());

    Lanes<Scalar> factor = weight / sum;
    factor.tail(lanes - count).setZero();
    kernels<Scalar>().scale_classes(logits, classes, row, factor.data());
    for (Index lane = 0; lane < count; ++lane)
        logits[labels[static_cast<std::size_t>(lane)] * row + lane] -= weight;
    return sum_of_losses(sum, max, right, count);
}

template <class Scalar>
Score softmax_score(const Scalar* logits, Index classes, Index row, std::span<const int> labels) {
    check_labels(labels, classes);
    const Lanes<Scalar> right = of_labels(logits, row, labels);
    Lanes<Scalar> max;
    Lanes<Scalar> sum;
    kernels<Scalar>().softmax_sums(logits, classes, row, max.data(), sum.data());

    Score score;
    score.predictions = std::ssize(labels);
    score.loss = sum_of_losses(sum, max, right, score.predictions);
    for (Index lane = 0; lane < score.predictions; ++lane) {
        Index predicted = 0;
        while (predicted < classes - 1 && logits[predicted * row + lane] != max[lane]) ++predicted;
        const bool right_class = predicted == labels[static_cast<std::size_t>(lane)];
        score.correct += right_class && logits[predicted * row + lane] == max[lane] ? 1 : 0;
    }
    return score;
}

template double softmax_gradient(float*, Index, Index, std::span<const int>, float);
template double softmax_gradient(double*, Index, Index, std::span<const int>, double);
template Score softmax_score(const float*, Index, Index, std::span<const int>);
template Score softmax_score(const double*, Index, Index, std::span<const int>);

}  // namespace paceline
