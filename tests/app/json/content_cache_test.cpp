#include "app/json/content_cache.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

namespace paceline::shelf_test {
namespace {

TEST_CASE("cache: a thing is made once and shared") {
    ContentCache cache;
    int made = 0;
    const auto make = [&] { return ++made; };

    const auto first = cache.once<int>("a", make);

    CHECK(cache.once<int>("a", make) == first);
    CHECK(*cache.once<int>("b", make) == 2);
    CHECK(made == 2);
}

TEST_CASE("cache: what fails is not kept, and fails again") {
    ContentCache cache;
    const auto fail = []() -> int { throw std::runtime_error("no"); };

    CHECK_THROWS_WITH(cache.once<int>("a", fail), "no");
    CHECK(*cache.once<int>("a", [] { return 7; }) == 7);
}

}  // namespace
}  // namespace paceline::shelf_test
