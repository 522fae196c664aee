// Classes are the labels that occur, in ascending order: the class of a label is the number of
// smaller ones. Labels 0 and 255 are two classes, as are "cat" and "dog"; where every label from 0
// on occurs, the class of a label is the label.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace paceline {

template <class Label>
class Classes {
  public:
    explicit Classes(std::vector<Label> labels) : ordered_(std::move(labels)) {
        std::ranges::sort(ordered_);
        const auto rest = std::ranges::unique(ordered_);
        ordered_.erase(rest.begin(), rest.end());
    }

    [[nodiscard]] int count() const { return static_cast<int>(ordered_.size()); }
    [[nodiscard]] const std::vector<Label>& labels() const { return ordered_; }

    /// Returns nothing for a label that does not occur.
    [[nodiscard]] std::optional<int> of(const Label& label) const {
        const auto found = std::ranges::lower_bound(ordered_, label);
        if (found == ordered_.end() || *found != label) return std::nullopt;
        return static_cast<int>(found - ordered_.begin());
    }

  private:
    std::vector<Label> ordered_;
};

}  // namespace paceline
