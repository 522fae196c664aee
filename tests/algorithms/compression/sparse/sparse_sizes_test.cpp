#include "algorithms/compression/sparse/sparse_sizes.hpp"

#include <doctest/doctest.h>

#include "tests/models/built_in_profile.hpp"

namespace paceline::sparse_sizes_test {
namespace {

constexpr SparseRule rule{.density = 0.01, .law = DensityLaw::independent};

TEST_CASE("sparse sizes: they are those of the formulas, whenever they are asked for") {
    const LayoutPtr layout = built_in_profile("resnet-50").layout();
    for (const bool whole : {false, true})
        for (const DensityLaw law : {DensityLaw::worst_case, DensityLaw::independent}) {
            SparseRule own = rule;
            own.whole = whole;
            own.law = law;
            SparseSizes sizes(layout, own);
            for (int time = 0; time < 2; ++time) {
                CHECK(sizes.selection_time() == selection_time(own.selection, *layout, 0.01));
                for (const int c : {64, 1, 3, 2, 64}) {
                    CAPTURE(c);
                    const Bytes rest = c * uncompressed_bytes(*layout, own.format);
                    CHECK(sizes.of_union(c) == sparse_bytes(*layout, 0.01, c, law, own.format) +
                                                   (whole ? rest : Bytes{0}));
                }
            }
        }
}

TEST_CASE("sparse sizes: workers share those of one layout and one rule, and no others") {
    const LayoutPtr layout = built_in_profile("resnet-50").layout();
    const LayoutPtr other = built_in_profile("alexnet").layout();
    SparseRule denser = rule;
    denser.density = 0.02;
    SparseRule slower = rule;
    slower.selection.per_comparison = Duration{500};
    SparseRule longer = rule;
    longer.format.bytes_per_entry = 8;
    SharedSparseSizes shared;

    const SparseSizesPtr first = shared.of(layout, rule);

    CHECK(shared.of(layout, rule) == first);
    for (const SparseRule& another : {denser, slower, longer})
        CHECK(shared.of(layout, another) != first);
    CHECK(shared.of(other, rule) != first);
    CHECK(shared.of(layout, rule) == first);
}

}  // namespace
}  // namespace paceline::sparse_sizes_test
