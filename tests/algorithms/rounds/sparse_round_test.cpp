#include "algorithms/rounds/sparse_round.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "sim/collectives/chunks.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/random.hpp"

namespace paceline::sparse_round_test {
namespace {

using Set = std::set<std::int64_t>;

LayoutPtr layout_of(std::vector<Tensor> tensors) {
    return std::make_shared<const Layout>(std::move(tensors));
}

/// Compressible at 0-299 and 310-389, not at 300-309 and 390-399.
LayoutPtr mixed_layout() {
    return layout_of({{"a", {30, 10}}, {"b", {10}}, {"c", {8, 10}}, {"d", {10}}});
}

bool compressible(std::int64_t position) {
    return position < 300 || (position >= 310 && position < 390);
}

SparseVector at(const LayoutPtr& layout, const Set& positions, double value = 1) {
    return {
        layout, {positions.begin(), positions.end()}, std::vector<double>(positions.size(), value)};
}

Set random_set(RandomStream& random, std::size_t count) {
    boost::random::uniform_int_distribution<std::int64_t> any(0, 399);
    Set set;
    while (set.size() < count) {
        const std::int64_t position = any(random);
        if (compressible(position)) set.insert(position);
    }
    return set;
}

// Returns the lesser of sparse and dense weight, for the two compressible tensors of the mixed
// layout.
Bytes bytes_of(const Set& u) {
    const auto in_a = std::distance(u.begin(), u.lower_bound(300));
    const auto in_c = std::distance(u.lower_bound(310), u.lower_bound(390));
    return Bytes{std::min<std::int64_t>(6 * in_a, 1200) + std::min<std::int64_t>(6 * in_c, 320)};
}

// Returns the members that a block of survivors has merged, by the definition of the fold.
std::vector<std::size_t> members_of(int n, int first, int step) {
    std::vector<std::size_t> members;
    const Fold fold(n);
    for (int place = 0; place < n; ++place) {
        const int survivor =
            fold.drops_out(place) ? fold.survivor(place + 1) : fold.survivor(place);
        if (survivor >= first && survivor < first + (1 << step))
            members.push_back(static_cast<std::size_t>(place));
    }
    return members;
}

struct Contributions {
    std::vector<Set> sets;
    SparseRound round;

    Contributions(std::vector<Set> of, const LayoutPtr& layout, SparsePacking packing)
        : sets(std::move(of)), round(sets.size(), layout, std::move(packing)) {
        for (std::size_t i = 0; i < sets.size(); ++i) round.enter(i, at(layout, sets[i]));
    }
    [[nodiscard]] Set merged(const std::vector<std::size_t>& members) const {
        Set all;
        for (const std::size_t i : members) all.insert(sets[i].begin(), sets[i].end());
        return all;
    }
};

TEST_CASE("sparse round, property: unions weigh as std::set says, for any number of members") {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16}) {
            CAPTURE(seed);
            CAPTURE(n);
            RandomStream random = RandomStreams(seed).stream("sets");
            std::vector<Set> sets;
            for (int i = 0; i < n; ++i)
                sets.push_back(random_set(random, 3 + 7 * (static_cast<std::size_t>(i) % 4)));
            Contributions given(sets, mixed_layout(), {});

            const Fold fold(n);
            for (int step = 0; step <= fold.steps; ++step)
                for (int first = 0; first < fold.survivors; first += 1 << step) {
                    const std::vector<std::size_t> members = members_of(n, first, step);
                    const Union u{first, step, static_cast<int>(members.size())};
                    REQUIRE(given.round.union_bytes(u) == bytes_of(given.merged(members)));
                    REQUIRE(given.round.union_bytes(u) == bytes_of(given.merged(members)));
                }
            for (int place = 0; place < n; ++place) {
                const auto i = static_cast<std::size_t>(place);
                REQUIRE(given.round.union_bytes({place, -1, 1}) == bytes_of(sets[i]));
                REQUIRE(given.round.contribution_bytes(i) == bytes_of(sets[i]));
            }
        }
}

TEST_CASE("sparse round: a union may be asked for before its halves") {
    RandomStream random = RandomStreams(1).stream("sets");
    std::vector<Set> sets;
    for (int i = 0; i < 8; ++i) sets.push_back(random_set(random, 9));
    Contributions given(sets, mixed_layout(), {});

    const Bytes all = given.round.union_bytes({0, 3, 8});
    const Bytes half = given.round.union_bytes({4, 2, 4});

    CHECK(all == bytes_of(given.merged({0, 1, 2, 3, 4, 5, 6, 7})));
    CHECK(half == bytes_of(given.merged({4, 5, 6, 7})));
}

TEST_CASE("sparse round: identical supports do not grow, disjoint ones add up") {
    for (const int n : {2, 3, 4, 8}) {
        CAPTURE(n);
        std::vector<Set> disjoint;
        for (std::int64_t i = 0; i < n; ++i) disjoint.push_back({4 * i, 4 * i + 1, 310 + i});
        const std::vector<Set> identical(static_cast<std::size_t>(n), Set{7, 8, 311});
        Contributions same(identical, mixed_layout(), {});
        Contributions apart(disjoint, mixed_layout(), {});
        const Union all{0, Fold(n).steps, n};

        CHECK(same.round.union_bytes(all) == Bytes{6 * 3});
        CHECK(apart.round.union_bytes(all) == n * Bytes{6 * 3});
        CHECK(same.round.measure().contribution == doctest::Approx(3.0 / 380));
        CHECK(same.round.measure().merged == doctest::Approx(3.0 / 380));
        CHECK(apart.round.measure().contribution == doctest::Approx(3.0 / 380));
        CHECK(apart.round.measure().merged == doctest::Approx(3.0 * n / 380));
    }
}

TEST_CASE("sparse round: a tensor weighs as dense where that is less, each on its own") {
    Set most;
    for (std::int64_t i = 310; i < 380; ++i) most.insert(i);
    most.insert(5);
    Contributions given({most}, mixed_layout(), {});

    CHECK(given.round.contribution_bytes(0) == Bytes{6 * 1 + 4 * 80});
}

TEST_CASE("sparse round: tensors that travel along do not merge and are not measured") {
    const LayoutPtr layout = mixed_layout();
    Set whole{3, 4};
    for (const std::int64_t first : {300, 390})
        for (std::int64_t i = 0; i < 10; ++i) whole.insert(first + i);
    SparsePacking packing;
    packing.carries_rest = true;
    Contributions given({whole, whole, whole, whole}, layout, packing);

    CHECK(given.round.contribution_bytes(0) == Bytes{6 * 2 + 4 * 20});
    CHECK(given.round.union_bytes({0, 2, 4}) == Bytes{6 * 2 + 4 * (4 * 20)});
    Contributions folded({whole, whole, whole}, layout, packing);
    CHECK(folded.round.union_bytes({0, -1, 1}) == Bytes{6 * 2 + 4 * 20});
    CHECK(folded.round.union_bytes({0, 0, 2}) == Bytes{6 * 2 + 2 * (4 * 20)});
    CHECK(folded.round.union_bytes({1, 0, 1}) == Bytes{6 * 2 + 4 * 20});
    CHECK(folded.round.union_bytes({0, 1, 3}) == Bytes{6 * 2 + 3 * (4 * 20)});
    CHECK(given.round.measure().contribution == doctest::Approx(2.0 / 380));
    CHECK(given.round.measure().merged == doctest::Approx(2.0 / 380));
}

TEST_CASE("sparse round: a stand-in's messages have the declared density, times measured growth") {
    const LayoutPtr charged =
        layout_of({{"A", {1000, 10}}, {"B", {1000}}, {"C", {101, 3}}, {"D", {1, 1}}});
    SparsePacking packing{{8, 4}, charged, true, 0.01};
    // 20 and 30 entries, 10 of them in both: the union of 40 is 40/25 of one of them.
    Set some;
    Set others;
    for (std::int64_t i = 0; i < 20; ++i) some.insert(i);
    for (std::int64_t i = 0; i < 30; ++i) others.insert(10 + i);
    Contributions given({some, others}, mixed_layout(), packing);

    // ceil(0.01 x 10,000, 303, 1) and ceil(0.016 x them); one entry is lighter dense.
    CHECK(given.round.contribution_bytes(0) == Bytes{8 * (100 + 4) + 4 + 4 * 1000});
    CHECK(given.round.contribution_bytes(1) == Bytes{8 * (100 + 4) + 4 + 4 * 1000});
    CHECK(given.round.union_bytes({0, 0, 1}) == Bytes{8 * (100 + 4) + 4 + 4 * 1000});
    CHECK(given.round.union_bytes({0, 1, 2}) == Bytes{8 * (160 + 5) + 4 + 2 * 4 * 1000});
}

TEST_CASE("sparse round: if nothing is sent, a stand-in's message has no entries either") {
    SparsePacking packing{{8, 4}, layout_of({{"A", {1000, 10}}}), false};
    Contributions given({Set{}, Set{}}, mixed_layout(), packing);

    CHECK(given.round.union_bytes({0, 1, 2}) == Bytes{0});
}

TEST_CASE("sparse round: a model without compressible tensors measures no density") {
    const LayoutPtr biases = layout_of({{"b", {10}}});
    SparsePacking stand_in{{}, mixed_layout(), false};

    CHECK_THROWS_AS(SparseRound(2, biases, stand_in), LogicError);
    Contributions given({Set{}}, biases, {});
    CHECK(given.round.contribution_bytes(0) == Bytes{0});
    CHECK(given.round.measure().steps == 0);
}

TEST_CASE("sparse round: the mean is formed in the order of members, whoever asks") {
    const LayoutPtr layout = mixed_layout();
    const std::array values{0.1, 1e16, -1e16};
    SparseRound round(3, layout, {});
    for (const std::size_t member : {2U, 0U, 1U})
        round.enter(member, at(layout, {5}, values[member]));

    const double in_order = ((values[0] + values[1]) + values[2]) * (1.0 / 3);
    CHECK(round.mean().values()(5) == in_order);
    CHECK(round.mean().values()(6) == 0);
    CHECK(&round.mean().values() == &round.mean().values());
}

TEST_CASE("sparse round: a missing contribution cannot be read, and no member enters twice") {
    const LayoutPtr layout = mixed_layout();
    SparseRound round(2, layout, {});
    round.enter(0, at(layout, {1}));

    CHECK_THROWS_AS(round.enter(0, at(layout, {1})), LogicError);
    CHECK_THROWS_AS(round.mean(), LogicError);
    CHECK_THROWS_AS(std::ignore = round.union_bytes({0, 1, 2}), LogicError);
    CHECK_FALSE(round.leave());
    CHECK(round.leave());
}

}  // namespace
}  // namespace paceline::sparse_round_test
