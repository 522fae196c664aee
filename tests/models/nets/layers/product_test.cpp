#include "models/nets/layers/product.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "models/nets/layers/lanes.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::product_test {
namespace {

using Eigen::Index;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMajor random_matrix(RandomStream& random, Index rows, Index columns) {
    return random_point(random, rows * columns, 1).reshaped(rows, columns);
}

// Guard values around a result reveal writes outside of it.
constexpr double untouched = 1234.5;

TEST_CASE("product: it is the matrix product, for any size, start, end and order of A") {
    RandomStream random = RandomStreams(1).stream("product");
    for (const Index rows : {1, 2, 7, 12, 13, 25, 40})
        for (const Index columns : {1, 5, 15, 16, 31, 32, 33, 70})
            for (const Index depth : {0, 1, 9, 64, 65, 130}) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(depth);
                const Index room =
                    std::max<Index>(depth, 1);  // an empty product needs an address, too
                const RowMajor a = random_matrix(random, rows, room);
                const Eigen::MatrixXd a_by_columns = a;
                const RowMajor b = random_matrix(random, room, columns);
                const Eigen::VectorXd bias = random_point(random, rows, 1);
                const RowMajor product = a.leftCols(depth) * b.topRows(depth);

                RowMajor c = RowMajor::Constant(rows, columns + 3, untouched);
                multiply<double>(rows, columns, depth, {a.data(), room, 1}, b.data(), columns,
                                 c.data(), columns + 3);
                CHECK((c.leftCols(columns) - product).cwiseAbs().sum() < 1e-9);
                multiply<double>(rows, columns, depth, {a_by_columns.data(), 1, rows}, b.data(),
                                 columns, c.data(), columns + 3, {.start = Start::sum});
                CHECK((c.leftCols(columns) - 2 * product).cwiseAbs().sum() < 1e-9);
                multiply<double>(
                    rows, columns, depth, {a.data(), room, 1}, b.data(), columns, c.data(),
                    columns + 3,
                    {.start = Start::bias, .bias = bias.data(), .finish = Finish::relu});
                const RowMajor expected = (product.colwise() + bias).cwiseMax(0.0);
                CHECK((c.leftCols(columns) - expected).cwiseAbs().sum() < 1e-9);
                CHECK((c.rightCols(3).array() == untouched).all());
            }
}

TEST_CASE("product: rows of B may lie anywhere") {
    RandomStream random = RandomStreams(2).stream("product");
    const RowMajor memory = random_matrix(random, 50, lanes);
    const std::vector<Index> rows_of_b{40 * lanes, 3 * lanes, 3 * lanes, 0, 49 * lanes};
    const RowMajor a = random_matrix(random, 14, 5);
    RowMajor c(14, lanes);

    multiply_gathered<double>(14, 5, {a.data(), 5, 1}, memory.data(), rows_of_b.data(), c.data(),
                              lanes);

    RowMajor b(5, lanes);
    b << memory.row(40), memory.row(3), memory.row(3), memory.row(0), memory.row(49);
    CHECK((c - a * b).cwiseAbs().sum() < 1e-10);
}

TEST_CASE("product: a correlation is nine dot products for each row of errors") {
    RandomStream random = RandomStreams(3).stream("product");
    const ErrorGrid errors{.height = 3, .width = 4, .row = 6 * lanes};
    const Index d_row = 40 * lanes;
    for (const Index stride : {1, 2}) {
        const InputGrid seen{stride * 12 * lanes, stride * lanes, 12 * lanes};
        for (const Index rows : {1, 2, 5}) {
            CAPTURE(stride);
            CAPTURE(rows);
            const Eigen::VectorXd d = random_point(random, rows * d_row, 1);
            const Eigen::VectorXd x = random_point(random, 12 * 12 * lanes, 1);
            RowMajor g = RowMajor::Constant(rows, 11, 0.5);
            correlate_3x3(rows, d.data(), d_row, errors, x.data(), seen, g.data(), 11);
            for (Index row = 0; row < rows; ++row)
                for (Index tap = 0; tap < 9; ++tap) {
                    double sum = 0.5;
                    for (Index y = 0; y < 3; ++y)
                        for (Index column = 0; column < 4; ++column)
                            sum += d.segment(row * d_row + (y * 6 + column) * lanes, lanes)
                                       .dot(x.segment(((stride * y + tap / 3) * 12 +
                                                       stride * column + tap % 3) *
                                                          lanes,
                                                      lanes));
                    CHECK(g(row, tap) == doctest::Approx(sum).epsilon(1e-12));
                }
            CHECK((g.rightCols(2).array() == 0.5).all());
        }
    }
}

}  // namespace
}  // namespace paceline::product_test
