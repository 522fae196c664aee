#include "algorithms/runtime/wire_format.hpp"

#include <doctest/doctest.h>

namespace paceline::wire_format_test {
namespace {

TEST_CASE("wire format: fp32 takes 4 bytes an entry, fp16 half of that") {
    CHECK(fp32.weigh(1000).count == 4000);
    CHECK(fp16.weigh(1000).count == 2000);
    CHECK(fp32.weigh(0).count == 0);
    CHECK(WireFormat{}.weigh(3) == fp32.weigh(3));
    CHECK(fp32.weigh(60'965'224).count == 243'860'896);
}

}  // namespace
}  // namespace paceline::wire_format_test
