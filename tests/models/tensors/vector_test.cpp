#include "models/tensors/vector.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"

namespace paceline::vector_test {
namespace {

LayoutPtr three_entries() {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"a", {2, 1}}, {"b", {1}}});
}

LayoutPtr four_entries() {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"a", {4}}});
}

Vector with(double a, double b, double c) {
    return {three_entries(), Eigen::Vector3d(a, b, c)};
}

TEST_CASE("vector: with values it has one per entry of its layout") {
    const Vector v = with(1, 2, 3);

    CHECK(v.has_values());
    CHECK(v.entries() == 3);
    CHECK(v.values()(2) == 3);
    CHECK_THROWS_AS(Vector(three_entries(), Eigen::VectorXd::Zero(4)), LogicError);
}

TEST_CASE("vector: a timing-only one has a layout and no values") {
    Vector v(three_entries());

    CHECK_FALSE(v.has_values());
    CHECK(v.entries() == 3);
    CHECK(v.layout()->tensors().size() == 2);
    CHECK_THROWS_AS(static_cast<void>(v.values()), LogicError);
    CHECK_THROWS_AS(static_cast<void>(v.writable()), LogicError);
}

TEST_CASE("vector: zero like another has values exactly if the other has") {
    const Vector zeros = Vector::zero_like(with(1, 2, 3));
    const Vector nothing = Vector::zero_like(Vector(three_entries()));

    CHECK(zeros.values().isZero(0));
    CHECK(zeros.entries() == 3);
    CHECK_FALSE(nothing.has_values());
    CHECK(nothing.entries() == 3);
}

TEST_CASE("vector: a copy shares the values") {
    const Vector original = with(1, 2, 3);

    const Vector copy = original;  // NOLINT(performance-unnecessary-copy-initialization)

    CHECK(copy.values().data() == original.values().data());
}

TEST_CASE("vector: a copy is a snapshot, whichever of the two is changed") {
    Vector original = with(1, 2, 3);
    Vector copy = original;

    original.writable()(0) = 10;
    copy.writable()(1) = 20;

    CHECK(original.values() == Eigen::Vector3d(10, 2, 3));
    CHECK(copy.values() == Eigen::Vector3d(1, 20, 3));
}

TEST_CASE("vector: arithmetic in place leaves snapshots as they were") {
    Vector v = with(1, 2, 3);
    const Vector first = v;
    v += with(1, 1, 1);
    const Vector second = v;
    v -= with(0, 0, 4);
    const Vector third = v;
    v *= 2;

    CHECK(first.values() == Eigen::Vector3d(1, 2, 3));
    CHECK(second.values() == Eigen::Vector3d(2, 3, 4));
    CHECK(third.values() == Eigen::Vector3d(2, 3, 0));
    CHECK(v.values() == Eigen::Vector3d(4, 6, 0));
}

TEST_CASE("vector: values that nobody shares are changed in place") {
    Vector v = with(1, 2, 3);
    const double* where = v.values().data();

    v += with(1, 1, 1);
    v *= 3;

    CHECK(v.values().data() == where);
}

TEST_CASE("vector: who knows the address of values writes there, and snapshots keep the old ones") {
    Vector a = with(1, 2, 3);
    const double* const address = a.values().data();
    const Vector snapshot = a;

    a.writable_in_place()[0] = 7;
    const Vector later = a;
    a.writable_in_place()[1] = 8;

    CHECK(a.values().data() == address);
    CHECK(a.values() == Eigen::Vector3d(7, 8, 3));
    CHECK(snapshot.values() == Eigen::Vector3d(1, 2, 3));
    CHECK(later.values() == Eigen::Vector3d(7, 2, 3));
}

TEST_CASE("vector: arithmetic is that of its values, and leaves the operands alone") {
    const Vector a = with(1, 2, 3);
    const Vector b = with(8, 4, 2);

    CHECK((a + b).values() == Eigen::Vector3d(9, 6, 5));
    CHECK((a - b).values() == Eigen::Vector3d(-7, -2, 1));
    CHECK((0.5 * b).values() == Eigen::Vector3d(4, 2, 1));
    CHECK((b / 4).values() == Eigen::Vector3d(2, 1, 0.5));
    CHECK((a - 0.25 * (b + a) / 2).values().isApprox(Eigen::Vector3d(-0.125, 1.25, 2.375), 1e-15));
    CHECK(a.values() == Eigen::Vector3d(1, 2, 3));
    CHECK(b.values() == Eigen::Vector3d(8, 4, 2));
}

TEST_CASE("vector: an operand may be the vector itself, or share its values") {
    Vector v = with(1, 2, 3);
    const Vector snapshot = v;
    const Vector& same = v;

    v += same;
    v += same;
    v -= snapshot;

    CHECK(v.values() == Eigen::Vector3d(3, 6, 9));
    CHECK(snapshot.values() == Eigen::Vector3d(1, 2, 3));
}

TEST_CASE("vector: arithmetic on timing-only vectors does nothing") {
    const Vector a(three_entries());
    Vector b(three_entries());

    b += a;
    b -= a;
    b *= 2;
    const Vector c = 0.1 * (a + b) - a / 2;

    CHECK_FALSE(b.has_values());
    CHECK_FALSE(c.has_values());
    CHECK(c.layout() == a.layout());
}

TEST_CASE("vector: operands that have values and operands that have none do not mix") {
    Vector values = with(1, 2, 3);
    Vector nothing(three_entries());

    CHECK_THROWS_AS(values += nothing, LogicError);
    CHECK_THROWS_AS(nothing += values, LogicError);
    CHECK_THROWS_AS(values -= nothing, LogicError);
    CHECK_THROWS_AS(nothing -= values, LogicError);
    CHECK_THROWS_AS(static_cast<void>(values + nothing), LogicError);
}

TEST_CASE("vector: operands of different layouts do not mix") {
    Vector three = with(1, 2, 3);
    Vector three_timing(three_entries());

    CHECK_THROWS_AS(three += Vector(four_entries(), Eigen::VectorXd::Zero(4)), LogicError);
    CHECK_THROWS_AS(three_timing -= Vector(four_entries()), LogicError);
}

}  // namespace
}  // namespace paceline::vector_test
