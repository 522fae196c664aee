#include "analysis/link_use.hpp"

#include <doctest/doctest.h>

namespace paceline {
namespace {

using namespace literals;
using namespace std::chrono_literals;

TEST_CASE("link use: time with several messages counts once, bytes of each") {
    const Route first{0, 3};
    const Route second{3};
    LinkUse use;
    use.flow_begins(first, Time{1us});
    use.flow_begins(second, Time{2us});
    use.flow_ends(first, 5_B, Time{4us});
    use.flow_ends(second, 7_B, Time{9us});
    use.flow_begins(second, Time{20us});

    CHECK(use.busy(0, Time{30us}) == 3us);
    CHECK(use.busy(3, Time{30us}) == 8us + 10us);
    CHECK(use.bytes(0) == 5_B);
    CHECK(use.bytes(3) == 12_B);
    CHECK(use.busy(1, Time{30us}) == 0us);
    CHECK(use.busy(99, Time{30us}) == 0us);
    CHECK(use.bytes(99) == 0_B);
}

}  // namespace
}  // namespace paceline
