#include "algorithms/compression/sparse/selection.hpp"

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

namespace paceline::selection_test {
namespace {

using doctest::Approx;

constexpr Duration p102{219};
constexpr Duration v100{500};

// Returns the time of m log2 m comparisons of s each, in seconds.
double sorting(double m, Duration s) {
    return to_seconds(s) * m * std::log2(m);
}

TEST_CASE("selection: a free one takes no time") {
    CHECK(selection_time({Selection::free, p102}, 25'600'000, 0.001) == Duration::zero());
}

TEST_CASE("selection: an exact one costs s n log2 n, 138 ms for 25.6 million on a P102-100") {
    const Duration resnet = selection_time({Selection::exact, p102}, 25'600'000, 0.001);
    const Duration alexnet = selection_time({Selection::exact, p102}, 61'000'000, 0.001);
    const Duration power_of_two = selection_time({Selection::exact, v100}, 1024, 0.001);

    CHECK(to_seconds(resnet) == Approx(0.138).epsilon(0.003));
    CHECK(to_seconds(alexnet) == Approx(0.345).epsilon(0.003));
    CHECK(power_of_two == 1024 * 10 * v100);
}

TEST_CASE("selection: an exact one does not depend on the density") {
    const SelectionCost exact{Selection::exact, p102};

    CHECK(selection_time(exact, 1'000'000, 0.001) == selection_time(exact, 1'000'000, 0.25));
}

TEST_CASE("selection: a sampled one sorts a hundredth, then 1.3 times what is kept") {
    const Duration time = selection_time({Selection::sampled, p102}, 1'000'000, 0.001);

    // m = max(10000, 2000), 1.3 k = 1300
    CHECK(to_seconds(time) == Approx(sorting(10'000, p102) + sorting(1300, p102)).epsilon(1e-6));
}

TEST_CASE("selection: the share of a sample is a choice") {
    for (const double share : {0.001, 0.005, 0.01, 0.1, 1.0}) {
        CAPTURE(share);
        const Duration time =
            selection_time({.method = Selection::sampled, .per_comparison = p102, .share = share},
                           10'000'000, 0.001);

        CHECK(to_seconds(time) ==
              Approx(sorting(share * 1e7, p102) + sorting(13'000, p102)).epsilon(1e-6));
    }
}

TEST_CASE("selection: a sample has 2/density entries at least") {
    const Duration time = selection_time({Selection::sampled, v100}, 100'000, 0.001);

    // m = max(1000, 2000), 1.3 k = 130
    CHECK(to_seconds(time) == Approx(sorting(2000, v100) + sorting(130, v100)).epsilon(1e-6));
}

TEST_CASE("selection: a hundredth and what is kept are rounded up") {
    const Duration time = selection_time({Selection::sampled, v100}, 1'000'001, 0.01);

    CHECK(to_seconds(time) ==
          Approx(sorting(10'001, v100) + sorting(1.3 * 10'001, v100)).epsilon(1e-6));
}

TEST_CASE("selection: a tensor of at most 2/density entries is searched whole") {
    const SelectionCost sampled{Selection::sampled, v100};
    const SelectionCost exact{Selection::exact, v100};

    CHECK(selection_time(sampled, 2000, 0.001) == selection_time(exact, 2000, 0.001));
    CHECK(selection_time(sampled, 700, 0.001) == selection_time(exact, 700, 0.001));
    CHECK(selection_time(sampled, 8, 0.25) == selection_time(exact, 8, 0.25));
    CHECK(selection_time(sampled, 2001, 0.001) != selection_time(exact, 2001, 0.001));
}

TEST_CASE("selection: one entry needs no comparison") {
    CHECK(selection_time({Selection::sampled, v100}, 1, 0.001) == Duration::zero());
    CHECK(selection_time({Selection::exact, v100}, 1, 0.001) == Duration::zero());
}

TEST_CASE("selection: for large tensors sampling costs far less than exactness") {
    const Duration sampled = selection_time({Selection::sampled, p102}, 25'600'000, 0.001);
    const Duration exact = selection_time({Selection::exact, p102}, 25'600'000, 0.001);

    CHECK(50 * sampled < exact);
}

TEST_CASE("selection: a layout costs what its compressible tensors cost, one after the other") {
    const Layout layout({{"a", {1000, 500}}, {"bias", {500'000}}, {"b", {30, 10}}});
    const SelectionCost sampled{Selection::sampled, p102};

    CHECK(selection_time(sampled, layout, 0.001) ==
          selection_time(sampled, 500'000, 0.001) + selection_time(sampled, 300, 0.001));
    CHECK(selection_time({Selection::free, p102}, layout, 0.001) == Duration::zero());
}

TEST_CASE("selection: unless said otherwise a P102-100 samples") {
    CHECK(SelectionCost{}.method == Selection::sampled);
    CHECK(SelectionCost{}.per_comparison == p102);
}

}  // namespace
}  // namespace paceline::selection_test
