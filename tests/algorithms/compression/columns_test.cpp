#include "algorithms/compression/columns.hpp"

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "algorithms/compression/column_quantizer.hpp"
#include "algorithms/compression/error_feedback.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::columns_test {
namespace {

// The two means of a column, written out.
Eigen::VectorXd two_levels(const Eigen::VectorXd& column) {
    double sums[2] = {0, 0};
    double counts[2] = {0, 0};
    for (const double v : column) {
        sums[v >= 0 ? 1 : 0] += v;
        counts[v >= 0 ? 1 : 0] += 1;
    }
    Eigen::VectorXd said(column.size());
    for (Eigen::Index i = 0; i < column.size(); ++i) {
        const int side = column(i) >= 0 ? 1 : 0;
        said(i) = sums[side] / counts[side];
    }
    return said;
}

Vector compressed(const LayoutPtr& layout, const Eigen::VectorXd& x) {
    Vector v(layout, x);
    RandomStream random = RandomStreams(1).stream("test");
    compress(make_columns(), v, random);
    return v;
}

TEST_CASE("one-bit columns, property: each index of the first dimension has two means") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const auto outputs = static_cast<std::int64_t>(1 + seed % 5);
        const LayoutPtr layout = make_layout({{"w", {outputs, 3, 2}}, {"b", {9}}});
        const Eigen::VectorXd x = normal_vector(seed, layout->entries());

        const Eigen::VectorXd c = compressed(layout, x).values();

        for (Eigen::Index j = 0; j < outputs; ++j)
            CHECK((c.segment(6 * j, 6) - two_levels(x.segment(6 * j, 6))).norm() < 1e-14);
        CHECK((c.tail(9) - two_levels(x.tail(9))).norm() < 1e-14);
    }
}

TEST_CASE("one-bit columns, property: with feedback they are the column quantizer") {
    const LayoutPtr layout = small_layout();
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(1).stream("test");
        Vector e(layout, Eigen::VectorXd::Zero(26));
        Eigen::VectorXd residual = Eigen::VectorXd::Zero(26);
        for (unsigned k = 0; k < 5; ++k) {
            const Eigen::VectorXd g = normal_vector(100 * seed + k, 26);
            const Eigen::VectorXd said = quantize_columns(*layout, g, residual);
            const Vector sent = compress_with_feedback(make_columns(), {layout, g}, e, random);
            CHECK((sent.values() - said).norm() < 1e-13);
            CHECK((e.values() - residual).norm() < 1e-13);
        }
    }
}

TEST_CASE("one-bit columns: a part of a tensor is one column") {
    const LayoutPtr part = part_of(Layout({{"w", {4, 3}}}), 2, 10);
    const Eigen::VectorXd x = normal_vector(3, 8);

    CHECK((compressed(part, x).values() - two_levels(x)).norm() < 1e-14);
    CHECK(message_bits(make_columns(), *part) == 32 * (1 + 2));
}

TEST_CASE("one-bit columns: a column takes a word per 32 rows and two floats") {
    const Compressor columns = make_columns();

    CHECK(columns.bits({"w", {10, 32}}) == 10 * 32 * (1 + 2));
    CHECK(columns.bits({"w", {10, 33}}) == 10 * 32 * (2 + 2));
    CHECK(columns.bits({"conv", {8, 3, 3, 3}}) == 8 * 32 * (1 + 2));
    CHECK(columns.bits({"bias", {1000}}) == 32 * (32 + 2));
    CHECK(columns.encode == 2);
    CHECK(columns.decode == 1);
}

}  // namespace
}  // namespace paceline::columns_test
