#include "models/tensors/layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace paceline {

std::int64_t Tensor::entries() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{});
}

Layout::Layout(std::vector<Tensor> tensors) : tensors_(std::move(tensors)), offsets_{0} {
    std::vector<std::int64_t> compressible;
    for (const Tensor& tensor : tensors_) {
        const std::int64_t entries = tensor.entries();
        offsets_.push_back(offsets_.back() + entries);
        if (tensor.compressible())
            compressible.push_back(entries);
        else
            incompressible_ += entries;
    }
    std::ranges::sort(compressible);
    for (const std::int64_t entries : compressible) {
        if (sizes_.empty() || sizes_.back().entries != entries) sizes_.push_back({entries, 0});
        ++sizes_.back().tensors;
    }
}

std::size_t Layout::tensor_at(std::int64_t entry) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(offsets_, entry) - offsets_.begin()) -
           1;
}

LayoutPtr part_of(const Layout& layout, std::int64_t begin, std::int64_t end) {
    std::vector<Tensor> parts;
    for (std::size_t j = layout.tensor_at(begin);
         j < layout.tensors().size() && layout.offset(j) < end; ++j) {
        const Tensor& tensor = layout.tensors()[j];
        const std::int64_t first = std::max(begin, layout.offset(j));
        const std::int64_t last = std::min(end, layout.offset(j + 1));
        if (first >= last) continue;
        parts.push_back(tensor);
        if (last - first == tensor.entries()) continue;
        parts.back().shape = {last - first};
        if (tensor.shape.size() >= 2) parts.back().shape.insert(parts.back().shape.begin(), 1);
    }
    return std::make_shared<const Layout>(std::move(parts));
}

std::vector<std::size_t> chosen_tensors(const Layout& layout, const TensorChoice& choice) {
    const std::vector<Tensor>& tensors = layout.tensors();
    std::vector<std::size_t> chosen;
    if (const auto* const name = std::get_if<std::string>(&choice)) {
        const std::string layer = *name + ".";
        for (std::size_t j = 0; j < tensors.size(); ++j)
            if (tensors[j].name == *name || tensors[j].name.starts_with(layer)) chosen.push_back(j);
        return chosen;
    }
    const auto count = static_cast<std::int64_t>(tensors.size());
    const std::int64_t place = std::get<std::int64_t>(choice);
    if (place >= -count && place < count)
        chosen.push_back(static_cast<std::size_t>(place < 0 ? place + count : place));
    return chosen;
}

LayoutPtr with_left_out(const LayoutPtr& layout, const std::vector<TensorChoice>& choices) {
    if (choices.empty()) return layout;
    std::vector<Tensor> tensors = layout->tensors();
    for (const TensorChoice& choice : choices)
        for (const std::size_t j : chosen_tensors(*layout, choice)) tensors[j].left_out = true;
    return std::make_shared<const Layout>(std::move(tensors));
}

LayoutPtr without_left_out(const LayoutPtr& layout) {
    if (std::ranges::none_of(layout->tensors(), &Tensor::left_out)) return layout;
    std::vector<Tensor> kept;
    for (const Tensor& tensor : layout->tensors())
        if (!tensor.left_out) kept.push_back(tensor);
    return std::make_shared<const Layout>(std::move(kept));
}

}  // namespace paceline
