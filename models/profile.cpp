#include "models/profile.hpp"

#include <cstddef>
#include <utility>

namespace paceline {

namespace {

// Adds something up by tensor: that of a layer on its first tensor, that of a layer without tensors
// on the layer before it, and that of layers before the first tensor on this one.
template <class T, class Add>
std::vector<T> booked_on_tensors(const std::vector<ProfileLayer>& layers, Add add) {
    std::vector<T> sums;
    T first{};               // of layers without tensors before the first one that has any
    std::size_t booked = 0;  // the first tensor of the last layer that has any
    for (const ProfileLayer& layer : layers) {
        if (!layer.tensors.empty()) {
            booked = sums.size();
            sums.resize(sums.size() + layer.tensors.size());
        }
        add(sums.empty() ? first : sums[booked], layer);
    }
    if (!sums.empty()) sums.front() += first;
    return sums;
}

}  // namespace

LayoutPtr Profile::layout() const {
    std::vector<Tensor> tensors;
    for (const ProfileLayer& layer : layers)
        for (const Tensor& tensor : layer.tensors)
            tensors.push_back({layer.name + "." + tensor.name, tensor.shape});
    return std::make_shared<const Layout>(std::move(tensors));
}

double Profile::macs() const {
    double sum = 0;
    for (const ProfileLayer& layer : layers) sum += layer.macs;
    return sum;
}

std::vector<double> Profile::tensor_macs() const {
    return booked_on_tensors<double>(
        layers, [](double& sum, const ProfileLayer& layer) { sum += layer.macs; });
}

std::vector<double> Profile::recomputed_tensor_macs(Recompute recompute) const {
    return booked_on_tensors<double>(layers, [recompute](double& sum, const ProfileLayer& layer) {
        const bool again = layer.first_by != Recompute::none && layer.first_by <= recompute;
        if (again) sum += layer.macs;
    });
}

std::optional<TensorTimes> Profile::tensor_times() const {
    if (layers.empty() || !layers.front().times) return std::nullopt;
    return TensorTimes{
        booked_on_tensors<Duration>(
            layers,
            [](Duration& all, const ProfileLayer& layer) { all = sum(all, layer.times->forward); }),
        booked_on_tensors<Duration>(layers, [](Duration& all, const ProfileLayer& layer) {
            all = sum(all, layer.times->backward);
        })};
}

}  // namespace paceline
