#include "models/tensors/layout.hpp"

#include <doctest/doctest.h>

namespace paceline::layout_test {
namespace {

TEST_CASE("layout: a tensor has the product of its dimensions as entries, a scalar one") {
    CHECK(Tensor{"scalar", {}}.entries() == 1);
    CHECK(Tensor{"bias", {7}}.entries() == 7);
    CHECK(Tensor{"kernel", {64, 3, 7, 7}}.entries() == 9408);
    CHECK(Tensor{"large", {100'000, 100'000}}.entries() == 10'000'000'000);
}

TEST_CASE("layout: what has two dimensions or more is compressible") {
    CHECK_FALSE(Tensor{"scalar", {}}.compressible());
    CHECK_FALSE(Tensor{"bias", {1000}}.compressible());
    CHECK(Tensor{"column", {1000, 1}}.compressible());
    CHECK(Tensor{"kernel", {64, 3, 7, 7}}.compressible());
}

TEST_CASE("layout: tensors stand one behind the other in a flat vector") {
    const Layout layout({{"a", {2, 3}}, {"b", {4}}, {"c", {5, 1}}});

    CHECK(layout.tensors().size() == 3);
    CHECK(layout.offset(0) == 0);
    CHECK(layout.offset(1) == 6);
    CHECK(layout.offset(2) == 10);
    CHECK(layout.entries() == 15);
}

TEST_CASE("layout: one-dimensional tensors make up the incompressible entries") {
    const Layout layout({{"a", {2, 3}}, {"b", {4}}, {"c", {5, 1}}, {"d", {}}});

    CHECK(layout.incompressible_entries() == 5);
}

TEST_CASE("layout: without tensors it has no entries") {
    const Layout layout({});

    CHECK(layout.entries() == 0);
    CHECK(layout.incompressible_entries() == 0);
}

}  // namespace
}  // namespace paceline::layout_test
