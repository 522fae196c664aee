#include "models/tensors/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::layout_test {
namespace {

TEST_CASE("layout: a tensor has the product of its dimensions as entries, a scalar one") {
    CHECK(Tensor{"scalar", {}}.entries() == 1);
    CHECK(Tensor{"bias", {7}}.entries() == 7);
    CHECK(Tensor{"kernel", {64, 3, 7, 7}}.entries() == 9408);
    CHECK(Tensor{"large", {100'000, 100'000}}.entries() == 10'000'000'000);
}

TEST_CASE("layout: what has two dimensions or more is compressible") {
    CHECK_FALSE(Tensor{"scalar", {}}.compressible());
    CHECK_FALSE(Tensor{"bias", {1000}}.compressible());
    CHECK(Tensor{"column", {1000, 1}}.compressible());
    CHECK(Tensor{"kernel", {64, 3, 7, 7}}.compressible());
}

TEST_CASE("layout: tensors stand one behind the other in a flat vector") {
    const Layout layout({{"a", {2, 3}}, {"b", {4}}, {"c", {5, 1}}});

    CHECK(layout.tensors().size() == 3);
    CHECK(layout.offset(0) == 0);
    CHECK(layout.offset(1) == 6);
    CHECK(layout.offset(2) == 10);
    CHECK(layout.entries() == 15);
}

TEST_CASE("layout: one-dimensional tensors make up the incompressible entries") {
    const Layout layout({{"a", {2, 3}}, {"b", {4}}, {"c", {5, 1}}, {"d", {}}});

    CHECK(layout.incompressible_entries() == 5);
}

TEST_CASE("layout: without tensors it has no entries") {
    const Layout layout({});

    CHECK(layout.entries() == 0);
    CHECK(layout.incompressible_entries() == 0);
}

LayoutPtr six_tensors() {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"conv.weight", {4, 3}},
                                                              {"conv.bias", {4}},
                                                              {"empty", {0}},
                                                              {"scale", {}},
                                                              {"fc.weight", {2, 4}},
                                                              {"fc.bias", {2}}});
}

std::vector<bool> left_out(const LayoutPtr& layout) {
    std::vector<bool> left;
    for (const Tensor& tensor : layout->tensors()) left.push_back(tensor.left_out);
    return left;
}

TEST_CASE("layout: tensors are left out by name, by layer, by place, and from the end") {
    const LayoutPtr all = six_tensors();
    using Left = std::vector<bool>;

    CHECK(left_out(all) == Left{0, 0, 0, 0, 0, 0});
    CHECK(left_out(with_left_out(all, {"fc.weight"})) == Left{0, 0, 0, 0, 1, 0});
    CHECK(left_out(with_left_out(all, {0, 3})) == Left{1, 0, 0, 1, 0, 0});
    CHECK(left_out(with_left_out(all, {-1, -6, "fc.bias"})) == Left{1, 0, 0, 0, 0, 1});
    CHECK(left_out(with_left_out(all, {"conv"})) == Left{1, 1, 0, 0, 0, 0});
    CHECK(left_out(with_left_out(all, {"fc", "scale"})) == Left{0, 0, 0, 1, 1, 1});
    CHECK(left_out(with_left_out(all, {6, -7, "f", "fc.", "weight", ""})) ==
          Left{0, 0, 0, 0, 0, 0});
    CHECK(chosen_tensors(*all, -2) == std::vector<std::size_t>{4});
    CHECK(chosen_tensors(*all, "fc") == std::vector<std::size_t>{4, 5});
    CHECK(chosen_tensors(*all, 6).empty());
    CHECK(with_left_out(all, {}) == all);
}

TEST_CASE("layout: leaving out keeps names, shapes and offsets, and is not undone by more") {
    const LayoutPtr all = six_tensors();
    const LayoutPtr some = with_left_out(with_left_out(all, {4}), {0});

    for (std::size_t j = 0; j < 6; ++j) {
        CHECK(some->tensors()[j].name == all->tensors()[j].name);
        CHECK(some->tensors()[j].shape == all->tensors()[j].shape);
        CHECK(some->offset(j) == all->offset(j));
    }
    CHECK(left_out(some) == std::vector<bool>{1, 0, 0, 0, 1, 0});
    CHECK_FALSE(some->tensors()[4].compressible());
    CHECK(some->incompressible_entries() == some->entries());
}

TEST_CASE("layout: what is not left out stands in sequence") {
    const LayoutPtr rest = without_left_out(with_left_out(six_tensors(), {0, -1}));

    REQUIRE(rest->tensors().size() == 4);
    CHECK(rest->tensors()[0].name == "conv.bias");
    CHECK(rest->tensors()[3].name == "fc.weight");
    CHECK(rest->entries() == 4 + 0 + 1 + 8);
    const LayoutPtr all = six_tensors();
    CHECK(without_left_out(all) == all);
}

TEST_CASE("layout, property: parts between any cuts hold every entry once, in order") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const LayoutPtr layout = with_left_out(six_tensors(), {static_cast<int>(seed % 6)});
        const std::int64_t entries = layout->entries();
        std::vector<std::int64_t> owner;  // of each entry
        for (std::size_t j = 0; j < 6; ++j)
            owner.insert(owner.end(), static_cast<std::size_t>(layout->tensors()[j].entries()),
                         static_cast<std::int64_t>(j));
        std::uniform_int_distribution<std::int64_t> cut(0, entries);
        std::vector<std::int64_t> cuts{0, cut(random), cut(random), cut(random), entries};
        std::ranges::sort(cuts);
        std::int64_t at = 0;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            const LayoutPtr part = part_of(*layout, cuts[i], cuts[i + 1]);
            REQUIRE(part->entries() == cuts[i + 1] - cuts[i]);
            for (const Tensor& tensor : part->tensors()) {
                REQUIRE(tensor.entries() > 0);
                const Tensor& whole =
                    layout
                        ->tensors()[static_cast<std::size_t>(owner[static_cast<std::size_t>(at)])];
                CHECK(tensor.name == whole.name);
                CHECK(tensor.left_out == whole.left_out);
                CHECK(tensor.compressible() == whole.compressible());
                const std::int64_t n = tensor.entries();
                if (n == whole.entries()) CHECK(tensor.shape == whole.shape);
                if (n < whole.entries() && whole.shape.size() >= 2)
                    CHECK(tensor.shape == std::vector<std::int64_t>{1, n});
                if (n < whole.entries() && whole.shape.size() < 2)
                    CHECK(tensor.shape == std::vector<std::int64_t>{n});
                for (std::int64_t k = 0; k < n; ++k)
                    REQUIRE(&layout->tensors()[static_cast<std::size_t>(
                                owner[static_cast<std::size_t>(at + k)])] == &whole);
                at += n;
            }
        }
        CHECK(at == entries);
    }
}

}  // namespace
}  // namespace paceline::layout_test
