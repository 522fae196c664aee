#include "models/tensors/layout_parts.hpp"

#include <memory>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::layout_parts_test {
namespace {

LayoutPtr a_layout() {
    return std::make_shared<const Layout>(
        std::vector<Tensor>{{"fc.weight", {8, 4}}, {"fc.bias", {8}}, {"out.weight", {2, 8}}});
}

TEST_CASE("layout parts: equal parts of one layout are one") {
    LayoutParts parts;
    const LayoutPtr whole = a_layout();

    const LayoutPtr part = parts.part_of(whole, 16, 40);

    CHECK(part->entries() == 24);
    CHECK(part->tensors().size() == 2);
    CHECK(parts.part_of(whole, 16, 40) == part);
    CHECK(parts.part_of(whole, 16, 41) != part);
    CHECK(parts.part_of(a_layout(), 16, 40) != part);
}

TEST_CASE("layout parts: what is left out is marked, and taken out, once") {
    LayoutParts parts;
    const LayoutPtr whole = a_layout();

    const LayoutPtr with = parts.with_left_out(whole, {"out"});

    CHECK(with->tensors()[2].left_out);
    CHECK(parts.with_left_out(whole, {"out"}) == with);
    CHECK(parts.with_left_out(whole, {"fc"}) != with);
    CHECK(parts.with_left_out(whole, {}) == whole);
    CHECK(parts.without_left_out(with)->entries() == 40);
    CHECK(parts.without_left_out(with) == parts.without_left_out(with));
    CHECK(parts.without_left_out(whole) == whole);
}

}  // namespace
}  // namespace paceline::layout_parts_test
