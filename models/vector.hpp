// A vector of parameters: always a layout, and values only in runs that train.
//
// In a timing-only run a Vector has no values and arithmetic on it does nothing, so that an
// algorithm is written once for all modes. Values are doubles (exact identities, no drift). Copies
// share the values until one of them is changed; a copy is therefore a snapshot, and costs nothing.
// Operands of one expression have the same layout and either both have values or neither.
#pragma once

#include <cstdint>
#include <memory>

#include <Eigen/Core>

#include "models/layout.hpp"

namespace paceline {

class Vector {
  public:
    /// Without values.
    explicit Vector(LayoutPtr layout);
    /// Requires one value per entry of the layout.
    Vector(LayoutPtr layout, Eigen::VectorXd values);
    /// All zeros, with values exactly if `other` has them.
    static Vector zero_like(const Vector& other);

    [[nodiscard]] const LayoutPtr& layout() const { return layout_; }
    [[nodiscard]] std::int64_t entries() const { return layout_->entries(); }
    [[nodiscard]] bool has_values() const { return values_ != nullptr; }
    /// Requires has_values().
    [[nodiscard]] const Eigen::VectorXd& values() const;
    /// Whether both have the same values because one was copied from the other and neither changed.
    [[nodiscard]] bool shares_values_with(const Vector& other) const {
        return values_ != nullptr && values_ == other.values_;
    }
    /// The values for writing; what shares them keeps the old ones. Requires has_values().
    [[nodiscard]] Eigen::VectorXd& writable();

    Vector& operator+=(const Vector& other);
    Vector& operator-=(const Vector& other);
    Vector& operator*=(double factor);

    friend Vector operator+(Vector a, const Vector& b) { return a += b; }
    friend Vector operator-(Vector a, const Vector& b) { return a -= b; }
    friend Vector operator*(double factor, Vector a) { return a *= factor; }
    friend Vector operator/(Vector a, double divisor) { return a *= 1 / divisor; }

  private:
    void check_like(const Vector& other) const;

    LayoutPtr layout_;
    std::shared_ptr<Eigen::VectorXd> values_;  // null in timing-only runs
};

}  // namespace paceline
