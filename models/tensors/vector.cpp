#include "models/tensors/vector.hpp"

#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

Vector::Vector(LayoutPtr layout) : layout_(std::move(layout)) {}

Vector::Vector(LayoutPtr layout, Eigen::VectorXd values)
    : layout_(std::move(layout)), values_(std::make_shared<Eigen::VectorXd>(std::move(values))) {
    PACELINE_CHECK(values_->size() == layout_->entries(), "a vector has one value per entry");
}

Vector Vector::zero_like(const Vector& other) {
    if (!other.has_values()) return Vector(other.layout_);
    return {other.layout_, Eigen::VectorXd::Zero(other.entries())};
}

const Eigen::VectorXd& Vector::values() const {
    PACELINE_CHECK(has_values(), "a timing-only vector has no values");
    return *values_;
}

Eigen::VectorXd& Vector::writable() {
    PACELINE_CHECK(has_values(), "a timing-only vector has no values");
    if (values_.use_count() > 1) values_ = std::make_shared<Eigen::VectorXd>(*values_);
    return *values_;
}

Eigen::VectorXd& Vector::writable_in_place() {
    PACELINE_CHECK(has_values(), "a timing-only vector has no values");
    if (values_.use_count() > 1) {
        const auto own = std::make_shared<Eigen::VectorXd>(std::move(*values_));
        *values_ = *own;  // what the others share
        values_ = own;
    }
    return *values_;
}

void Vector::check_like(const Vector& other) const {
    PACELINE_CHECK(has_values() == other.has_values(), "operands both have values, or neither");
    PACELINE_CHECK(entries() == other.entries(), "operands have the same layout");
}

Vector& Vector::operator+=(const Vector& other) {
    check_like(other);
    if (has_values()) writable() += other.values();
    return *this;
}

Vector& Vector::operator-=(const Vector& other) {
    check_like(other);
    if (has_values()) writable() -= other.values();
    return *this;
}

Vector& Vector::operator*=(double factor) {
    if (has_values()) writable() *= factor;
    return *this;
}

}  // namespace paceline
