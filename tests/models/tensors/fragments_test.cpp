#include "models/tensors/fragments.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::fragments_test {
namespace {

Layout random_layout(std::mt19937& random) {
    std::uniform_int_distribution<std::int64_t> entries(1, 1000);
    std::vector<Tensor> tensors(std::uniform_int_distribution<std::size_t>(1, 40)(random));
    for (Tensor& tensor : tensors) tensor = {"t", {entries(random)}};
    return Layout(tensors);
}

TEST_CASE("fragments, property: runs are in sequence and hold every tensor once") {
    for (unsigned seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Layout layout = random_layout(random);
        const auto count = std::uniform_int_distribution<std::size_t>(1, 50)(random);

        const std::vector<TensorRun> runs = fragments(layout, count);

        REQUIRE(runs.size() == count);
        std::size_t next = 0;
        for (const TensorRun& run : runs) {
            REQUIRE(run.first == next);
            next += run.count;
        }
        REQUIRE(next == layout.tensors().size());
    }
}

TEST_CASE("fragments, property: an end is off its share by half of a tensor at most") {
    for (unsigned seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Layout layout = random_layout(random);
        const auto count = std::uniform_int_distribution<std::size_t>(1, 50)(random);
        std::int64_t largest = 0;
        for (const Tensor& tensor : layout.tensors()) largest = std::max(largest, tensor.entries());

        const std::vector<TensorRun> runs = fragments(layout, count);

        for (std::size_t p = 0; p < count; ++p) {
            const double share = static_cast<double>(layout.entries()) *
                                 static_cast<double>(p + 1) / static_cast<double>(count);
            const auto end = static_cast<double>(layout.offset(runs[p].first + runs[p].count));
            REQUIRE(std::abs(end - share) <= static_cast<double>(largest) / 2 + 1e-6);
        }
    }
}

TEST_CASE("fragments: a tensor larger than a share leaves runs without tensors") {
    const std::vector<TensorRun> runs =
        fragments(Layout({{"small", {10}}, {"large", {1000}}, {"last", {10}}}), 4);

    CHECK(runs[0].count + runs[1].count + runs[2].count + runs[3].count == 3);
    CHECK(std::ranges::count(runs, std::size_t{0}, &TensorRun::count) >= 1);
}

}  // namespace
}  // namespace paceline::fragments_test
