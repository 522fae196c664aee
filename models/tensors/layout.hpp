// The layout of a model's parameters: named tensors with shapes, stored consecutively in a flat
// vector.
//
// The size of a message follows from the layout and a wire format, never from how values are stored
// here. Compressors compress tensors of two or more dimensions. Biases and normalization parameters
// (one dimension) are sent uncompressed (Lin et al., ICLR 2018, released code).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paceline {

struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;

    [[nodiscard]] std::int64_t entries() const;
    [[nodiscard]] bool compressible() const { return shape.size() >= 2; }
};

class Layout {
  public:
    explicit Layout(std::vector<Tensor> tensors);

    [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
    /// Returns where a tensor begins in the flat vector.
    [[nodiscard]] std::int64_t offset(std::size_t tensor) const { return offsets_[tensor]; }
    [[nodiscard]] std::int64_t entries() const { return offsets_.back(); }
    /// Returns the number of entries in tensors that are not compressible.
    [[nodiscard]] std::int64_t incompressible_entries() const;

  private:
    std::vector<Tensor> tensors_;
    std::vector<std::int64_t> offsets_;  // one more than there are tensors
};

using LayoutPtr = std::shared_ptr<const Layout>;

}  // namespace paceline
