#include "algorithms/compression/sparse/top_k.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "algorithms/compression/sparse/sparse.hpp"
#include "sim/engine/check.hpp"

namespace paceline::top_k_test {
namespace {

using Positions = std::vector<std::int64_t>;

Positions selected(const TopKScratch& scratch) {
    return {scratch.selected().begin(), scratch.selected().end()};
}

std::vector<double> normal_values(std::int64_t n, std::uint64_t seed) {
    RandomStream random = RandomStreams(seed).stream("values");
    boost::random::normal_distribution<double> normal;
    std::vector<double> v(static_cast<std::size_t>(n));
    for (double& x : v) x = normal(random);
    return v;
}

// Few distinct magnitudes, including zero.
std::vector<double> values_with_ties(std::int64_t n, std::uint64_t seed) {
    std::vector<double> v = normal_values(n, seed);
    for (double& x : v) x = std::round(2 * x);
    return v;
}

// Sorts by decreasing magnitude; among equal magnitudes, lower positions come first.
Positions by_size(const std::vector<double>& v) {
    Positions order(v.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](std::int64_t i) { return std::abs(v[static_cast<std::size_t>(i)]); };
    std::ranges::sort(order,
                      [&](auto a, auto b) { return std::pair{-at(a), a} < std::pair{-at(b), b}; });
    return order;
}

// Returns the first k of these, ordered by position.
Positions first_of(const Positions& order, std::int64_t k) {
    Positions top(order.begin(), order.begin() + k);
    std::ranges::sort(top);
    return top;
}

Positions sorted_top(const std::vector<double>& v, std::int64_t k) {
    return first_of(by_size(v), k);
}

TEST_CASE("top-k: any guess selects the same from values that are made part by part") {
    RandomStream random = RandomStreams(7).stream("values");
    boost::random::normal_distribution<double> any;
    TopKScratch scratch;
    for (int seed = 0; seed < 20; ++seed) {
        std::vector<double> v(2000);
        for (double& x : v) x = any(random);
        TopKScratch whole;
        REQUIRE(select_exact(v, 40, whole));
        for (const double guess : {0.0, 1.0, 2.0, 2.5, std::numeric_limits<double>::infinity()}) {
            begin_exact(scratch);
            for (std::size_t first = 0; first < v.size(); first += 300)
                look_at(v, first, std::min<std::size_t>(first + 300, v.size()), guess, scratch);
            REQUIRE(finish_exact(v, 40, scratch));
            CHECK(std::ranges::equal(scratch.selected(), whole.selected()));
        }
    }
}

TEST_CASE("top-k, property: the exact selection is that of a sort, ties and guesses included") {
    TopKScratch scratch;
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        for (const std::int64_t n : {1, 2, 63, 64, 65, 700, 5000, 20'000})
            for (const bool ties : {false, true}) {
                const std::vector<double> v =
                    ties ? values_with_ties(n, seed) : normal_values(n, seed);
                const Positions order = by_size(v);
                for (const double density : {0.001, 0.01, 0.0625, 0.25, 1.0}) {
                    CAPTURE(seed);
                    CAPTURE(n);
                    CAPTURE(density);
                    const std::int64_t k = kept_entries(n, density);

                    REQUIRE(select_exact(v, k, scratch));

                    REQUIRE(selected(scratch) == first_of(order, k));
                }
            }
}

TEST_CASE("top-k: a guess that is too high does not change the exact selection") {
    // The entries that a regular sample sees, every 61st, are much larger than the rest.
    std::vector<double> v = normal_values(100'000, 3);
    for (std::size_t i = 0; i < v.size(); i += 61) v[i] *= 1000;
    TopKScratch scratch;

    for (const std::int64_t k : {1, 100, 1600, 1700, 3000}) {
        REQUIRE(select_exact(v, k, scratch));
        CHECK(selected(scratch) == sorted_top(v, k));
    }
}

TEST_CASE("top-k: nothing is selected from an empty tensor") {
    TopKScratch scratch;
    RandomStream random = RandomStreams(1).stream("selection");

    CHECK(select_exact({}, 0, scratch));
    CHECK(select_sampled({}, 0.5, random, scratch));
    CHECK(scratch.selected().empty());
    CHECK(select_exact(std::vector<double>{1, 2}, 0, scratch));
    CHECK(scratch.selected().empty());
    CHECK_THROWS_AS(std::ignore = select_exact(std::vector<double>{1, 2}, 3, scratch), LogicError);
}

TEST_CASE("top-k: tensors are sampled as by the released code") {
    const auto plan = [](std::int64_t n, double density) {
        const SamplingPlan p = sampling_plan(n, density);
        return std::vector<std::int64_t>{p.stride, p.samples};
    };

    // A sample of 1 % of 1,000,000 is wanted: the stride falls from 129 to 97.
    CHECK(plan(1'000'000, 0.001) == std::vector<std::int64_t>{97, 10'309});
    // 2/density = 2000 of 30,000 are wanted: the stride falls from 33 to 9.
    CHECK(plan(30'000, 0.001) == std::vector<std::int64_t>{9, 3333});
    CHECK(plan(2000, 0.001) == std::vector<std::int64_t>{1, 2000});
    // A sample of 0.1 % of 10,000,000: 10,000 are wanted, every 1025th is too seldom.
    const SamplingPlan few = sampling_plan(10'000'000, 0.001, 0.001);
    CHECK(std::vector<std::int64_t>{few.stride, few.samples} ==
          std::vector<std::int64_t>{993, 10'070});
    CHECK(plan(12, 0.25) == std::vector<std::int64_t>{1, 12});
}

TEST_CASE("top-k, property: a sampled selection sends between 0.8 k and k of the largest") {
    TopKScratch scratch;
    int mended = 0;
    for (std::uint64_t seed = 0; seed < 25; ++seed)
        for (const std::int64_t n : {100, 2000, 2001, 5000, 60'000}) {
            const std::vector<double> v = normal_values(n, seed);
            const Positions order = by_size(v);
            for (const double density : {0.001, 0.004, 0.0625, 0.25}) {
                CAPTURE(seed);
                CAPTURE(n);
                CAPTURE(density);
                const auto k = static_cast<double>(kept_entries(n, density));
                RandomStream random = RandomStreams(seed).stream("selection");

                REQUIRE(select_sampled(v, density, random, scratch));

                const Positions got = selected(scratch);
                REQUIRE(static_cast<double>(got.size()) >= 0.8 * k);
                REQUIRE(static_cast<double>(got.size()) <= k);
                REQUIRE(std::ranges::adjacent_find(got, std::ranges::greater_equal{}) == got.end());
                // Only the largest 1.3 k entries are ever accepted.
                const auto most = std::min(n, static_cast<std::int64_t>(std::ceil(1.3 * k)));
                const Positions top = first_of(order, most);
                REQUIRE(std::ranges::includes(top, got));
                mended += got == first_of(order, static_cast<std::int64_t>(k)) ? 1 : 0;
            }
        }
    CHECK(mended > 100);
}

TEST_CASE("top-k: where far too many reach the threshold, the exact top k among them is taken") {
    std::vector<double> v(10'000, -1.0);
    for (const std::size_t i : {200U, 350U, 400U, 800U, 999U}) v[i] = 2;
    TopKScratch scratch;
    RandomStream random = RandomStreams(1).stream("selection");

    REQUIRE(select_sampled(v, 0.01, random, scratch));

    Positions expected(95);
    std::iota(expected.begin(), expected.end(), 0);
    for (const std::int64_t i : {200, 350, 400, 800, 999}) expected.push_back(i);
    CHECK(selected(scratch) == expected);
}

TEST_CASE("top-k: where far too few reach the threshold, it falls until enough do") {
    // 333 of 3000 entries are sampled. The top four are tens, so the threshold is ten. Only those
    // four exceed it, and 30 are wanted; the 23 entries of 8.1 come one round later.
    const double density = 0.01;
    const SamplingPlan plan = sampling_plan(3000, density);
    RandomStream random = RandomStreams(1).stream("selection");
    RandomStream again = random;
    const std::int64_t start =
        boost::random::uniform_int_distribution<std::int64_t>(0, plan.stride - 1)(again);
    std::vector<double> v(3000, 1e-3);
    std::int64_t of_8 = 0;
    for (std::int64_t i = 0; of_8 < 23; ++i)
        if (i % plan.stride != start) {
            v[static_cast<std::size_t>(i)] = 8.1;
            ++of_8;
        }
    for (std::int64_t i = start; i < 3000; i += plan.stride) v[static_cast<std::size_t>(i)] = 10;
    const auto tens = static_cast<std::size_t>(std::ranges::count(v, 10.0));
    for (std::size_t i = 0, seen = 0; i < 3000; ++i)
        if (v[i] == 10 && ++seen > 4) v[i] = 1e-3;  // four are left
    TopKScratch scratch;

    REQUIRE(tens > 4);
    REQUIRE(kept_entries(plan.samples, density) == 4);
    REQUIRE(select_sampled(v, density, random, scratch));

    CHECK(scratch.selected().size() == 27);
}

TEST_CASE("top-k: values that are not finite are refused, and nothing is selected") {
    RandomStream random = RandomStreams(1).stream("selection");
    TopKScratch scratch;
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN(),
          std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
        for (const std::size_t where : {0U, 63U, 64U, 4999U}) {
            std::vector<double> v = normal_values(5000, 1);
            REQUIRE(all_finite(v));
            REQUIRE(select_exact(v, 5, scratch));
            v[where] = bad;

            CHECK_FALSE(all_finite(v));
            CHECK_FALSE(select_exact(v, 5, scratch));
            CHECK(scratch.selected().empty());
            CHECK_FALSE(select_sampled(v, 0.01, random, scratch));
            CHECK_FALSE(select_beyond(v, 0.5, scratch));
            CHECK(scratch.selected().empty());
        }
    CHECK(all_finite(std::vector<double>{std::numeric_limits<double>::max(),
                                         -std::numeric_limits<double>::denorm_min()}));
}

TEST_CASE("top-k: an entry equal to the threshold does not exceed it") {
    TopKScratch scratch;

    REQUIRE(select_beyond(std::vector<double>{-3, 2, 0, -2, 2.5}, 2, scratch));

    CHECK(selected(scratch) == Positions{0, 4});
}

TEST_CASE("top-k: a magnitude by rank is that of the sorted sample") {
    TopKScratch scratch;
    const std::vector<double> v{-5, 100, 1, 100, -3, 100, 4};

    CHECK(sampled_magnitude(v, 2, 4, 0, scratch) == 1);
    CHECK(sampled_magnitude(v, 2, 4, 2, scratch) == 4);
    CHECK(sampled_magnitude(v, 2, 4, 3, scratch) == 5);
    CHECK(sampled_magnitude(v, 3, 3, 2, scratch) == 100);
    CHECK_THROWS_AS(std::ignore = sampled_magnitude(v, 2, 5, 0, scratch), LogicError);
}

TEST_CASE("top-k: the same stream selects the same entries, a different one does not") {
    const std::vector<double> v = normal_values(50'000, 4);
    TopKScratch scratch;
    const auto with = [&](std::uint64_t seed) {
        RandomStream random = RandomStreams(seed).stream("selection");
        CHECK(select_sampled(v, 0.01, random, scratch));
        return selected(scratch);
    };

    CHECK(with(1) == with(1));
    CHECK(with(1) != with(2));
}

TEST_CASE("top-k: from the second call on nothing is allocated") {
    TopKScratch scratch;
    RandomStream random = RandomStreams(1).stream("selection");
    const std::vector<double> v = normal_values(50'000, 1);
    REQUIRE(select_exact(v, 50, scratch));
    REQUIRE(select_sampled(v, 0.001, random, scratch));
    const double* const magnitudes = scratch.magnitudes.data();
    const std::int64_t* const positions = scratch.positions.data();

    for (int call = 0; call < 20; ++call) {
        REQUIRE(select_exact(v, 50, scratch));
        REQUIRE(select_sampled(v, 0.001, random, scratch));
    }

    CHECK(scratch.magnitudes.data() == magnitudes);
    CHECK(scratch.positions.data() == positions);
}

TEST_CASE(
    "top-k, property: what is not among the largest becomes 0, and what is not finite stays") {
    TopKScratch scratch;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::vector<double> v = normal_values(1 + seed % 90, seed);
        for (double& value : v) value = std::round(3 * value);  // ties
        const auto k = static_cast<std::int64_t>(seed % (v.size() + 1));
        std::vector<std::size_t> order(v.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, std::less(),
                          [&](std::size_t i) { return std::pair(-std::abs(v[i]), i); });
        std::vector<double> expected(v.size(), 0.0);
        for (std::int64_t i = 0; i < k; ++i) {
            const std::size_t at = order[static_cast<std::size_t>(i)];
            expected[at] = v[at];
        }

        keep_only_largest(v, k, scratch);

        REQUIRE(v == expected);
    }
    std::vector<double> bad{1, std::numeric_limits<double>::infinity(), 2};
    const std::vector<double> before = bad;
    keep_only_largest(bad, 1, scratch);
    CHECK(bad == before);
}

}  // namespace
}  // namespace paceline::top_k_test
