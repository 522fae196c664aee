#include "models/nets/layers/layer.hpp"

#include <cstddef>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline {

template <class Scalar>
Chain<Scalar>::Chain(Layers<Scalar> layers) : layers_(std::move(layers)) {
    PACELINE_CHECK(!layers_.empty(), "a chain has a layer");
    Eigen::Index offset = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        offsets_.push_back(offset);
        const Eigen::Index entries = entries_of(layers_[i]->tensors());
        offset += entries;
        if (entries == 0 && first_trained_ == i) ++first_trained_;
        if (i == 0) continue;
        const Eigen::Index features = layers_[i]->in_features();
        PACELINE_CHECK(features == layers_[i - 1]->out_features(), "layers fit one another");
        between_.push_back(zero_panel<Scalar>(features));
        d_between_.push_back(zero_panel<Scalar>(features));
    }
}

template <class Scalar>
Eigen::Index Chain<Scalar>::in_features() const {
    return layers_.front()->in_features();
}

template <class Scalar>
Eigen::Index Chain<Scalar>::out_features() const {
    return layers_.back()->out_features();
}

template <class Scalar>
std::vector<Tensor> Chain<Scalar>::tensors() const {
    std::vector<Tensor> all;
    for (const auto& layer : layers_)
        for (Tensor& tensor : layer->tensors()) all.push_back(std::move(tensor));
    return all;
}

template <class Scalar>
std::vector<double> Chain<Scalar>::tensor_macs() const {
    std::vector<double> all;
    for (const auto& layer : layers_)
        for (const double macs : layer->tensor_macs()) all.push_back(macs);
    return all;
}

template <class Scalar>
void Chain<Scalar>::initialize(RandomStream& stream, Scalar* x) const {
    for (std::size_t i = 0; i < layers_.size(); ++i)
        layers_[i]->initialize(stream, x + offsets_[i]);
}

template <class Scalar>
void Chain<Scalar>::forward(const Scalar* x, const Panel<Scalar>& in, Panel<Scalar>& out) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
        layers_[i]->forward(x + offsets_[i], i == 0 ? in : between_[i - 1],
                            i + 1 == layers_.size() ? out : between_[i]);
}

template <class Scalar>
void Chain<Scalar>::backward(const BackwardPass<Scalar>& pass) {
    const std::size_t first = pass.d_in == nullptr ? first_trained_ : 0;
    for (std::size_t i = layers_.size(); i-- > first;) {
        const bool last = i + 1 == layers_.size();
        layers_[i]->backward({.x = pass.x + offsets_[i],
                              .in = i == 0 ? pass.in : between_[i - 1],
                              .out = last ? pass.out : between_[i],
                              .d_out = last ? pass.d_out : d_between_[i],
                              .d_in = i == first ? pass.d_in : &d_between_[i - 1],
                              .g = pass.g + offsets_[i],
                              .add = pass.add});
    }
}

template <class Scalar>
void Chain<Scalar>::finish(Scalar* g) {
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->finish(g + offsets_[i]);
}

Eigen::Index entries_of(const std::vector<Tensor>& tensors) {
    Eigen::Index sum = 0;
    for (const Tensor& tensor : tensors) sum += tensor.entries();
    return sum;
}

template <class Scalar>
void draw_normal(RandomStream& stream, double deviation, Eigen::Index count, Scalar* x) {
    for (Eigen::Index i = 0; i < count; ++i)
        x[i] = static_cast<Scalar>(paceline::draw_normal(stream, 0, deviation));
}

template class Chain<float>;
template class Chain<double>;
template void draw_normal(RandomStream&, double, Eigen::Index, float*);
template void draw_normal(RandomStream&, double, Eigen::Index, double*);

}  // namespace paceline
