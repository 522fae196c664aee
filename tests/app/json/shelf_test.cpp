#include "app/json/shelf.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

namespace paceline::shelf_test {
namespace {

TEST_CASE("shelf: a thing is made once and shared") {
    Shelf shelf;
    int made = 0;
    const auto make = [&] { return ++made; };

    const auto first = shelf.once<int>("a", make);

    CHECK(shelf.once<int>("a", make) == first);
    CHECK(*shelf.once<int>("b", make) == 2);
    CHECK(made == 2);
}

TEST_CASE("shelf: what fails is not kept, and fails again") {
    Shelf shelf;
    const auto fail = []() -> int { throw std::runtime_error("no"); };

    CHECK_THROWS_WITH(shelf.once<int>("a", fail), "no");
    CHECK(*shelf.once<int>("a", [] { return 7; }) == 7);
}

}  // namespace
}  // namespace paceline::shelf_test
