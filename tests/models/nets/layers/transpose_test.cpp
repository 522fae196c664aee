#include "models/nets/layers/transpose.hpp"

#include <doctest/doctest.h>

namespace paceline::transpose_test {
namespace {

using Eigen::Index;

template <class From, class To>
void check_transpose(Index rows, Index columns) {
    const Index from_row = columns + 2;
    const Index to_row = rows + 3;
    Eigen::Matrix<From, Eigen::Dynamic, 1> from(rows * from_row);
    for (Index i = 0; i < from.size(); ++i) from[i] = static_cast<From>(i);
    Eigen::Matrix<To, Eigen::Dynamic, 1> to(columns * to_row);
    to.setConstant(To{-1});
    transpose(rows, columns, from.data(), from_row, to.data(), to_row);
    for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < to_row; ++i) {
            const To expected = i < rows ? static_cast<To>(from[i * from_row + j]) : To{-1};
            if (to[j * to_row + i] != expected) REQUIRE(to[j * to_row + i] == expected);
        }
}

TEST_CASE("transpose: every entry goes to its place and nothing else is touched") {
    for (const Index rows : {1, 7, 8, 16, 17, 32, 50})
        for (const Index columns : {1, 5, 8, 16, 31, 32, 33, 48}) {
            CAPTURE(rows);
            CAPTURE(columns);
            check_transpose<float, float>(rows, columns);
            check_transpose<float, double>(rows, columns);
            check_transpose<double, double>(rows, columns);
        }
}

}  // namespace
}  // namespace paceline::transpose_test
