#include "analysis/measures/link_use.hpp"

#include <doctest/doctest.h>

namespace paceline::link_use_test {
namespace {

using namespace literals;
using namespace std::chrono_literals;

TEST_CASE("link use: time with several messages counts once, bytes of each") {
    LinkUse use;
    use.begins(5, Route{0, 3}, Time{1us});
    use.begins(2, Route{3}, Time{2us});
    use.drains(5, 5_B, Time{4us});
    use.drains(2, 7_B, Time{9us});
    use.begins(5, Route{3}, Time{20us});

    CHECK(use.busy(0, Time{30us}) == 3us);
    CHECK(use.busy(3, Time{30us}) == 8us + 10us);
    CHECK(use.bytes(0) == 5_B);
    CHECK(use.bytes(3) == 12_B);
    CHECK(use.busy(1, Time{30us}) == 0us);
    CHECK(use.busy(99, Time{30us}) == 0us);
    CHECK(use.bytes(99) == 0_B);
}

TEST_CASE("link use: each owner's bytes are its own, and together they are all") {
    LinkUse use;
    use.begins(0, Route{0, 3}, Time{1us}, 0);
    use.begins(1, Route{3}, Time{1us}, 2);
    use.drains(0, 5_B, Time{4us});
    use.begins(0, Route{3}, Time{5us}, 2);  // the number is used again
    use.drains(0, 1_B, Time{6us});
    use.drains(1, 7_B, Time{9us});

    CHECK(use.bytes_of(0, 0) == 5_B);
    CHECK(use.bytes_of(0, 3) == 5_B);
    CHECK(use.bytes_of(1, 3) == 0_B);
    CHECK(use.bytes_of(2, 3) == 8_B);
    CHECK(use.bytes_of(2, 0) == 0_B);
    CHECK(use.bytes_of(9, 99) == 0_B);
    CHECK(use.bytes(3) == 13_B);
}

}  // namespace
}  // namespace paceline::link_use_test
