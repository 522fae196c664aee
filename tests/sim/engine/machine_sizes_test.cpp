#include "sim/engine/machine_sizes.hpp"

#include <vector>

#include <doctest/doctest.h>

namespace paceline::machine_sizes_test {
namespace {

TEST_CASE("machine sizes: stated sizes that are equal are those of one number") {
    const MachineSizes even(3);
    const MachineSizes stated(std::vector<int>{3, 3});

    for (int device = 0; device < 6; ++device) {
        CHECK(stated.machine_of(device) == even.machine_of(device));
        CHECK(stated.place_of(device) == even.place_of(device));
    }
    CHECK(MachineSizes().one_each());
    CHECK_FALSE(even.one_each());
}

TEST_CASE("machine sizes: devices are numbered machine by machine") {
    const MachineSizes sizes(std::vector<int>{1, 4, 2});

    CHECK(sizes.machine_of(0) == 0);
    CHECK(sizes.machine_of(4) == 1);
    CHECK(sizes.place_of(4) == 3);
    CHECK(sizes.first_of(2) == 5);
    CHECK(sizes.place_of(6) == 1);
}

}  // namespace
}  // namespace paceline::machine_sizes_test
