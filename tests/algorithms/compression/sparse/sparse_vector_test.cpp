#include "algorithms/compression/sparse/sparse_vector.hpp"

#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/random.hpp"

namespace paceline::sparse_vector_test {
namespace {

LayoutPtr flat(std::int64_t entries) {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"all", {entries, 1}}});
}

SparseVector ones_at(const LayoutPtr& layout, const std::set<std::int64_t>& positions) {
    return {
        layout, {positions.begin(), positions.end()}, std::vector<double>(positions.size(), 1.0)};
}

TEST_CASE("sparse vector: it is added where its positions are") {
    Eigen::VectorXd sum = Eigen::VectorXd::Ones(5);

    add({flat(5), {1, 4}, {2.5, -3}}, sum);

    CHECK(sum == Eigen::VectorXd{{1, 3.5, 1, 1, -2}});
    CHECK_THROWS_AS(add({flat(4), {}, {}}, sum), LogicError);
}

TEST_CASE("support, property: it counts as a set does, merged or not, on any range") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("positions");
        const auto below = [&](std::int64_t n) {
            return boost::random::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
        };
        const std::int64_t n = 1 + below(400);
        std::set<std::int64_t> a;
        std::set<std::int64_t> b;
        for (std::int64_t i = below(n); i > 0; --i) a.insert(below(n));
        for (std::int64_t i = below(n); i > 0; --i) b.insert(below(n));
        std::set<std::int64_t> both = a;
        both.insert(b.begin(), b.end());

        Support support(n);
        support.insert(ones_at(flat(n), a));
        Support other(n);
        other.insert(ones_at(flat(n), b));
        Support merged = support;
        merged.merge(other);

        for (int range = 0; range < 50; ++range) {
            const std::int64_t first = below(n + 1);
            const std::int64_t last = first + below(n + 1 - first);
            const auto counted = [&](const std::set<std::int64_t>& set) {
                return std::distance(set.lower_bound(first), set.lower_bound(last));
            };
            REQUIRE(support.count(first, last) == counted(a));
            REQUIRE(merged.count(first, last) == counted(both));
        }
        REQUIRE(merged.count(0, n) == std::ssize(both));
    }
}

TEST_CASE("support: sets of different vectors do not merge") {
    Support support(64);
    CHECK_THROWS_AS(support.merge(Support(65)), LogicError);
}

}  // namespace
}  // namespace paceline::sparse_vector_test
