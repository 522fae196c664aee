#include "models/profile.hpp"

#include <utility>

namespace paceline {

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
    std::vector<double> macs;
    double first = 0;        // of layers without tensors before the first one that has any
    std::size_t booked = 0;  // the first tensor of the last layer that has any
    for (const ProfileLayer& layer : layers) {
        if (!layer.tensors.empty()) {
            booked = macs.size();
            macs.resize(macs.size() + layer.tensors.size());
        }
        (macs.empty() ? first : macs[booked]) += layer.macs;
    }
    if (!macs.empty()) macs.front() += first;
    return macs;
}

}  // namespace paceline
