#include "models/tensors/layout.hpp"

#include <functional>
#include <numeric>
#include <utility>

namespace paceline {

std::int64_t Tensor::entries() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{});
}

Layout::Layout(std::vector<Tensor> tensors) : tensors_(std::move(tensors)), offsets_{0} {
    for (const Tensor& tensor : tensors_) offsets_.push_back(offsets_.back() + tensor.entries());
}

std::int64_t Layout::incompressible_entries() const {
    std::int64_t sum = 0;
    for (const Tensor& tensor : tensors_)
        if (!tensor.compressible()) sum += tensor.entries();
    return sum;
}

}  // namespace paceline
