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

}  // namespace paceline
