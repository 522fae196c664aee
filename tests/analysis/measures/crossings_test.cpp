#include "analysis/measures/crossings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <doctest/doctest.h>

namespace paceline::crossings_test {
namespace {

using Function = std::function<std::optional<double>(double)>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Samples f against 0, and checks what Sampler promises.
struct Watched {
    Function f;
    std::vector<double> asked;

    Changes find(const std::vector<double>& grid, const Search& search) {
        return find_changes(
            grid,
            [this](const std::vector<double>& values) {
                CHECK(std::ranges::is_sorted(values));
                std::vector<Sides> sides;
                for (const double x : values) {
                    CHECK(std::ranges::find(asked, x) == asked.end());
                    asked.push_back(x);
                    sides.push_back({f(x), 0.0});
                }
                return sides;
            },
            search);
    }
};

std::vector<double> even_grid(double from, double to, std::size_t count) {
    return search_grid(from, to, count, {});
}

Changes find(Function f, const std::vector<double>& grid, const Search& search = {}) {
    return Watched{std::move(f), {}}.find(grid, search);
}

TEST_CASE("crossings: the roots of a polynomial are found, each in its direction") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> place(0.1, 0.9);
        const int degree = 1 + static_cast<int>(seed % 5);
        std::vector<double> roots;  // one per unit, so that a grid of halves separates them
        for (int i = 0; i < degree; ++i) roots.push_back(i + place(random));
        const auto polynomial = [&roots](double x) {
            double product = 1;
            for (const double root : roots) product *= x - root;
            return product;
        };
        const Search search{Scale::linear, 1e-6, 0};

        const Changes found = find(polynomial, even_grid(0, degree, 2 * roots.size() + 1), search);

        REQUIRE(found.changes.size() == roots.size());
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const Change& change = found.changes[i];
            CHECK(change.kind == ChangeKind::crossing);
            CHECK(change.first.x <= roots[i]);
            CHECK(change.last.x >= roots[i]);
            CHECK(change.last.x - change.first.x <= 1e-6 * degree);
            CHECK(std::abs(change.at - roots[i]) < 1e-9);  // the chord is better than the bracket
            const bool falls = (roots.size() - i) % 2 == 0;
            CHECK(change.before == (falls ? Side::above : Side::below));
            CHECK(change.after == (falls ? Side::below : Side::above));
        }
        CHECK(found.gaps.empty());
    }
}

TEST_CASE("crossings: on a logarithmic scale the tolerance is of the value") {
    for (const double root : {2e-6, 3e-3, 7.0, 4e8}) {
        CAPTURE(root);
        const Search search{Scale::logarithmic, 1e-5, 0};

        const Changes found = find([root](double x) { return root / x - 1; },
                                   search_grid(1e-6, 1e9, 16, search), search);

        REQUIRE(found.changes.size() == 1);
        CHECK(found.changes[0].kind == ChangeKind::crossing);
        CHECK(found.changes[0].at == doctest::Approx(root).epsilon(1e-9));
        CHECK(found.changes[0].last.x / found.changes[0].first.x - 1 <= 1e-5);
        CHECK(found.changes[0].before == Side::above);
    }
}

TEST_CASE("crossings: all brackets are halved together, in a batch each") {
    int batches = 0;
    const std::vector<double> roots{0.3, 1.3, 2.3, 3.3};

    const Changes found =
        find_changes(even_grid(0, 4, 5),
                     [&](const std::vector<double>& values) {
                         ++batches;
                         std::vector<Sides> sides;
                         for (const double x : values)
                             sides.push_back({(x - 0.3) * (x - 1.3) * (x - 2.3) * (x - 3.3), 0.0});
                         return sides;
                     },
                     {Scale::linear, 1e-3, 0});

    CHECK(found.changes.size() == 4);
    CHECK(batches == 1 + 8);  // 1 / 2^8 of a cell of length 1 is below 1e-3 of the range of 4
    CHECK(found.samples.size() == 5 + 4 * 8);
}

TEST_CASE("crossings: a step is a jump, where and as high as it is") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const double edge = std::uniform_real_distribution<double>(0.05, 9.95)(random);
        const double slope = std::uniform_real_distribution<double>(-0.01, 0.01)(random);
        const double height = std::uniform_real_distribution<double>(0.2, 5)(random);

        const Changes found =
            find([=](double x) { return slope * (x - edge) + (x < edge ? -height : 1); },
                 even_grid(0, 10, 9));

        REQUIRE(found.changes.size() == 1);
        CHECK(found.changes[0].kind == ChangeKind::jump);
        CHECK(found.changes[0].first.x <= edge);
        CHECK(found.changes[0].last.x >= edge);
        CHECK(found.changes[0].first.difference() == doctest::Approx(-height).epsilon(0.01));
        CHECK(found.changes[0].last.difference() == doctest::Approx(1).epsilon(0.01));
    }
}

TEST_CASE("crossings: what is steep or bent, and continuous, is no jump") {
    const Function root = [](double x) {
        return std::copysign(std::sqrt(std::abs(x - 3.21)), x - 3.21);
    };
    const Function bent = [](double x) { return x < 3.21 ? x - 3.21 : 1000 * (x - 3.21); };
    const Function steep = [](double x) { return std::tanh(300 * (x - 3.21)); };
    const Function above_much = [](double x) { return 1e6 * (x - 3.21); };
    for (const Function& f : {root, bent, steep, above_much}) {
        const Changes found = find(f, even_grid(0, 10, 11), {Scale::linear, 1e-6, 0});

        REQUIRE(found.changes.size() == 1);
        CHECK(found.changes[0].kind == ChangeKind::crossing);
        CHECK(found.changes[0].at == doctest::Approx(3.21).epsilon(1e-5));
    }
}

TEST_CASE("crossings: steps as fine as the tolerance, such as those of rounding, are no jump") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const double root = std::uniform_real_distribution<double>(0.1, 0.9)(random);
        const auto rounded = [root](double x) {
            return 5 + 1e-8 * (0.5 + std::round(1e8 * (x - root)));
        };

        const Changes found = find_changes(even_grid(0, 1, 5),
                                           [&](const std::vector<double>& values) {
                                               std::vector<Sides> sides;
                                               for (const double x : values)
                                                   sides.push_back({rounded(x), 5.0});
                                               return sides;
                                           },
                                           {Scale::linear, 1e-9, 0});

        REQUIRE(found.changes.size() == 1);
        CHECK(found.changes[0].kind == ChangeKind::crossing);
        CHECK(std::abs(found.changes[0].at - root) < 2e-8);
    }
}

TEST_CASE("crossings: where it is equal over an interval, both edges are found") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const double from = std::uniform_real_distribution<double>(1, 4)(random);
        const double to = std::uniform_real_distribution<double>(6, 9)(random);
        const double after = seed % 2 == 0 ? 1 : -1;
        const Function f = [=](double x) {
            if (x < from) return x - from;
            return x > to ? after * (x - to) : 0;
        };

        const Changes found = find(f, even_grid(0, 10, 11));

        REQUIRE(found.changes.size() == 1);
        const Change& change = found.changes[0];
        CHECK(change.kind == ChangeKind::equal);
        CHECK(change.before == Side::below);
        CHECK(change.after == (after > 0 ? Side::above : Side::below));
        CHECK(change.first.x >= from);
        CHECK(change.first.x - from <= 1e-3);
        CHECK(change.last.x <= to);
        CHECK(to - change.last.x <= 1e-3);
    }
}

TEST_CASE("crossings: a touch is found at a value of the grid and missed beside it") {
    const Function touch = [](double x) { return (x - 3) * (x - 3); };

    const Changes at = find(touch, even_grid(0, 10, 11));
    const Changes beside = find(touch, {0, 2.5, 5, 10});

    REQUIRE(at.changes.size() == 1);
    CHECK(at.changes[0].kind == ChangeKind::equal);
    CHECK(at.changes[0].at == 3);
    CHECK(at.changes[0].before == Side::above);
    CHECK(at.changes[0].after == Side::above);
    CHECK(beside.changes.empty());
    CHECK(beside.closest.value().x == 2.5);
}

TEST_CASE("crossings: a root that is a value of the grid is exactly there") {
    const Changes found = find([](double x) { return 4 - x; }, even_grid(0, 10, 11));

    REQUIRE(found.changes.size() == 1);
    CHECK(found.changes[0].kind == ChangeKind::equal);
    CHECK(found.changes[0].first.x == 4);
    CHECK(found.changes[0].last.x == 4);
    CHECK(found.changes[0].before == Side::above);
    CHECK(found.changes[0].after == Side::below);
}

TEST_CASE("crossings: nothing is looked for between a gap and its neighbors") {
    Watched watched{[](double x) -> std::optional<double> {
                        if (x == 4) return nan;
                        if (x == 5) return std::nullopt;
                        return x - 4.5;
                    },
                    {}};

    const Changes found = watched.find(even_grid(0, 10, 11), {});

    CHECK(watched.asked.size() == 11);
    REQUIRE(found.changes.size() == 1);
    CHECK(found.changes[0].kind == ChangeKind::hidden);
    CHECK(found.changes[0].first.x == 3);
    CHECK(found.changes[0].last.x == 6);
    CHECK(found.changes[0].before == Side::below);
    CHECK(found.changes[0].after == Side::above);
    REQUIRE(found.gaps.size() == 1);
    CHECK(found.gaps[0].first == 4);
    CHECK(found.gaps[0].last == 5);
}

TEST_CASE("crossings: a gap that bisection runs into hides the change") {
    const Function f = [](double x) { return std::abs(x - 4.3) < 0.05 ? nan : x - 4.3; };

    const Changes found = find(f, even_grid(0, 10, 11));

    REQUIRE(found.changes.size() == 1);
    CHECK(found.changes[0].kind == ChangeKind::hidden);
    CHECK(found.changes[0].first.x < 4.25);
    CHECK(found.changes[0].last.x > 4.35);
    CHECK(found.gaps.size() == 1);
}

TEST_CASE("crossings: without a crossing, both ends and the closest approach are reported") {
    const Changes found =
        find([](double x) { return 1 + (x - 7) * (x - 7); }, even_grid(0, 10, 11));

    CHECK(found.changes.empty());
    CHECK(found.samples.front().difference() == 50);
    CHECK(found.samples.back().difference() == 10);
    CHECK(found.closest.value().x == 7);
}

TEST_CASE("crossings: if there are only gaps, there is no closest approach") {
    const Changes found = find([](double) { return nan; }, even_grid(0, 10, 11));

    CHECK(found.changes.empty());
    CHECK(!found.closest);
    CHECK(found.gaps.size() == 1);
}

// The changes found by reading the list from left to right.
struct Told {
    ChangeKind kind;
    double first;
    double last;

    bool operator==(const Told&) const = default;
};

std::vector<Told> told_by(const std::vector<std::optional<int>>& sides) {
    std::vector<Told> told;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const bool begins = i == 0 || !sides[i - 1] || *sides[i - 1] != 0;
        if (sides[i] == 0 && begins) {
            std::size_t last = i;
            while (last + 1 < sides.size() && sides[last + 1] == 0) ++last;
            told.push_back({ChangeKind::equal, static_cast<double>(i), static_cast<double>(last)});
        }
        if (!sides[i] || *sides[i] == 0) continue;
        std::size_t next = i + 1;
        while (next < sides.size() && !sides[next]) ++next;
        if (next == sides.size() || *sides[next] != -*sides[i]) continue;
        told.push_back({next == i + 1 ? ChangeKind::crossing : ChangeKind::hidden,
                        static_cast<double>(i), static_cast<double>(next)});
    }
    return told;
}

TEST_CASE("crossings, property: with every whole number sampled, it finds the list's changes") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::vector<std::optional<int>> sides(2 + seed % 30);
        for (auto& side : sides)
            if (const unsigned draw = random() % 4; draw < 3) side = static_cast<int>(draw) - 1;
        const Search search{Scale::linear, 0, 1};
        const double last = static_cast<double>(sides.size() - 1);

        const Changes found = find(
            [&](double x) -> std::optional<double> {
                const auto& side = sides[static_cast<std::size_t>(x)];
                return side ? std::optional<double>(*side) : std::nullopt;
            },
            search_grid(0, last, sides.size(), search), search);

        std::vector<Told> told;
        for (const Change& change : found.changes)
            told.push_back({change.kind, change.first.x, change.last.x});
        CHECK(told == told_by(sides));
        CHECK(found.samples.size() == sides.size());
    }
}

TEST_CASE("crossings: for whole numbers the bracket is two neighbors") {
    const Search search{Scale::logarithmic, 0, 1};

    const Changes found = find([](double n) { return 63.5 - n; },
                               with_powers_of_two(search_grid(2, 4096, 5, search)), search);

    REQUIRE(found.changes.size() == 1);
    CHECK(found.changes[0].kind == ChangeKind::crossing);
    CHECK(found.changes[0].first.x == 63);
    CHECK(found.changes[0].last.x == 64);
}

TEST_CASE("crossings: a step of a quantity that is counted ends bisection, too") {
    const Search search{Scale::linear, 1e-12, 1};

    const Changes found = find([](double x) { return x < 1234.5 ? -1.0 : 1.0; },
                               search_grid(0, 1e6, 25, search), search);

    REQUIRE(found.changes.size() == 1);
    CHECK(found.changes[0].first.x == 1234);
    CHECK(found.changes[0].last.x == 1235);
}

TEST_CASE("grid: ends included, rising, evenly by its scale, short in decimal") {
    for (const Scale scale : {Scale::linear, Scale::logarithmic})
        for (const double from : {1e-4, 0.37, 12.0, 1e8})
            for (const double ratio : {1.001, 3.0, 1e3})
                for (const std::size_t count : {2U, 7U, 25U}) {
                    const std::vector<double> grid =
                        search_grid(from, from * ratio, count, {scale, 1e-4, 0});

                    REQUIRE(grid.size() == count);
                    CHECK(grid.front() == from);
                    CHECK(grid.back() == from * ratio);
                    for (std::size_t i = 1; i < count; ++i) {
                        const bool even = scale == Scale::linear;
                        const double cell =
                            even ? grid[i] - grid[i - 1] : std::log(grid[i] / grid[i - 1]);
                        const double all = even ? from * (ratio - 1) : std::log(ratio);
                        CHECK(cell * static_cast<double>(count - 1) / all ==
                              doctest::Approx(1).epsilon(0.25));
                    }
                }
    CHECK(search_grid(1e8, 1e11, 4, {Scale::logarithmic, 1e-4, 1}) ==
          std::vector<double>{1e8, 1e9, 1e10, 1e11});
    CHECK(search_grid(-1, 1, 5, {}) == std::vector<double>{-1, -0.5, 0, 0.5, 1});
}

TEST_CASE("grid: whole numbers are all there, or spaced with powers of two and what follows them") {
    CHECK(search_grid(3, 7, 5, {Scale::linear, 0, 1}) == std::vector<double>{3, 4, 5, 6, 7});
    CHECK(search_grid(3, 7, 200, {Scale::logarithmic, 0, 1}) == std::vector<double>{3, 4, 5, 6, 7});
    CHECK(with_powers_of_two({3, 10, 33}) ==
          std::vector<double>{3, 4, 5, 8, 9, 10, 16, 17, 32, 33});
}

}  // namespace
}  // namespace paceline::crossings_test
