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
#include <variant>
#include <vector>

namespace paceline {

struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    bool left_out = false;  // of compression: always sent whole, as it is

    [[nodiscard]] std::int64_t entries() const;
    [[nodiscard]] bool compressible() const { return shape.size() >= 2 && !left_out; }
};

class Layout {
  public:
    explicit Layout(std::vector<Tensor> tensors);

    [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
    /// Returns where a tensor begins in the flat vector.
    [[nodiscard]] std::int64_t offset(std::size_t tensor) const { return offsets_[tensor]; }
    [[nodiscard]] std::int64_t entries() const { return offsets_.back(); }
    /// Returns the tensor that holds an entry. Requires that there is one.
    [[nodiscard]] std::size_t tensor_at(std::int64_t entry) const;
    /// Returns the number of entries in tensors that are not compressible.
    [[nodiscard]] std::int64_t incompressible_entries() const { return incompressible_; }
    /// Compressible tensors by their number of entries. Nets have many of a few sizes, and what is
    /// known of one holds for all of its size.
    struct OfOneSize {
        std::int64_t entries;
        std::int64_t tensors;
    };
    [[nodiscard]] const std::vector<OfOneSize>& compressible_sizes() const { return sizes_; }

  private:
    std::vector<Tensor> tensors_;
    std::vector<std::int64_t> offsets_;  // one more than there are tensors
    std::int64_t incompressible_ = 0;
    std::vector<OfOneSize> sizes_;
};

using LayoutPtr = std::shared_ptr<const Layout>;

/// Returns the entries [begin, end) of a layout as a layout of their own. Whole tensors keep their
/// names and shapes; of a tensor that is cut, n entries become a matrix of 1 x n if it has two
/// dimensions or more, else a tensor of one dimension.
LayoutPtr part_of(const Layout& layout, std::int64_t begin, std::int64_t end);

/// Tensors by name: "fc.weight" is one, "fc" the tensors of that layer, whose names begin with
/// "fc.". Or one by place: 0, 1, ... from the first layer on, or -1, -2, ... from the last.
using TensorChoice = std::variant<std::string, std::int64_t>;

/// Returns the indices of the chosen tensors, ascending; none if there are no such tensors.
std::vector<std::size_t> chosen_tensors(const Layout& layout, const TensorChoice& choice);

/// Returns the layout with these tensors left out of compression. Choices of no tensor have no
/// effect.
LayoutPtr with_left_out(const LayoutPtr& layout, const std::vector<TensorChoice>& choices);

/// Returns the layout without the tensors that are left out, in sequence.
LayoutPtr without_left_out(const LayoutPtr& layout);

}  // namespace paceline
