// A vector of parameters. It always has a layout; it has values only in runs that train.
//
// In a timing-only run a Vector has no values and its arithmetic does nothing, so that an algorithm
// is written once for all modes. Values are doubles (exact identities, no drift). Copies share the
// values until one of them changes. A copy is therefore a snapshot and costs nothing. The operands
// of an expression must have the same layout, and either all or none of them have values.
#pragma once

#include <cstdint>
#include <memory>

#include <Eigen/Core>

#include "models/tensors/layout.hpp"

namespace paceline {

class Vector {
  public:
    /// Creates a vector without values.
    explicit Vector(LayoutPtr layout);
    /// Requires one value per entry of the layout.
    Vector(LayoutPtr layout, Eigen::VectorXd values);
    /// Returns zeros if `other` has values, and a vector without values otherwise.
    static Vector zero_like(const Vector& other);

    [[nodiscard]] const LayoutPtr& layout() const { return layout_; }
    [[nodiscard]] std::int64_t entries() const { return layout_->entries(); }
    [[nodiscard]] bool has_values() const { return values_ != nullptr; }
    /// Requires has_values().
    [[nodiscard]] const Eigen::VectorXd& values() const;
    /// Returns whether both share their values because one was copied from the other and neither
    /// changed.
    [[nodiscard]] bool shares_values_with(const Vector& other) const {
        return values_ != nullptr && values_ == other.values_;
    }
    /// Returns the values for writing. Other vectors that share them keep the old ones. Requires
    /// has_values().
    [[nodiscard]] Eigen::VectorXd& writable();
    /// Returns the values for writing, where they are in memory: for those who know their address.
    /// Other vectors that share them keep the old ones, elsewhere. Requires has_values(), and that
    /// nobody else knows the address.
    [[nodiscard]] Eigen::VectorXd& writable_in_place();

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
