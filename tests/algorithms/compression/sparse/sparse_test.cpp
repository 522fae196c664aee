#include "algorithms/compression/sparse/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/models/built_in_profile.hpp"

namespace paceline::sparse_test {
namespace {

using doctest::Approx;

const std::vector<std::string> profiles{"alexnet", "ptb-lstm", "resnet-110", "resnet-50", "vgg-16"};

// Returns ceil(numerator n / denominator) without using doubles.
std::int64_t exact_share(std::int64_t n, std::int64_t numerator, std::int64_t denominator) {
    return (n * numerator + denominator - 1) / denominator;
}

std::int64_t merged(int contributions, DensityLaw law) {
    return merged_entries(1'000'000, 1000, contributions, law);
}

// Message size of AlexNet and others, tensor by tensor: k = ceil(n / 1000) entries each.
std::int64_t message_at_one_per_mille(const Layout& layout, std::int64_t bytes_per_entry) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : layout.tensors()) {
        std::int64_t n = 1;
        for (const std::int64_t dimension : tensor.shape) n *= dimension;
        if (tensor.shape.size() < 2)
            bytes += 4 * n;
        else
            bytes += std::min(bytes_per_entry * ((n + 999) / 1000), 4 * n);
    }
    return bytes;
}

// One worker's message before merging.
Bytes message_bytes(const Layout& layout, double density, const SparseFormat& format) {
    return sparse_bytes(layout, density, 1, DensityLaw::worst_case, format) +
           uncompressed_bytes(layout, format);
}

TEST_CASE("sparse: at density 0.001 the built-in profiles weigh what was published") {
    CHECK(nominal_bytes(*built_in_profile("alexnet").layout(), 0.001) == Bytes{408'000});
    CHECK(nominal_bytes(*built_in_profile("resnet-50").layout(), 0.001) == Bytes{369'497});
    CHECK(nominal_bytes(*built_in_profile("ptb-lstm").layout(), 0.001) == Bytes{442'000});
    CHECK(nominal_bytes(*built_in_profile("vgg-16").layout(), 0.001) == Bytes{883'729});
    CHECK(nominal_bytes(*built_in_profile("resnet-110").layout(), 0.001) == Bytes{42'743});
}

TEST_CASE("sparse: nominal bytes are rounded to the nearest") {
    const Layout layout({{"a", {1000, 3}}, {"b", {2}}});

    CHECK(nominal_bytes(layout, 0.001) == Bytes{26});
    CHECK(nominal_bytes(layout, 0.0010278) == Bytes{27});  // 18.5004 + 8
    CHECK(nominal_bytes(layout, 0.0010277) == Bytes{26});  // 18.4986 + 8
}

TEST_CASE("sparse: a message weighs the kept entries of each tensor, and the rest dense") {
    for (const std::string& name : profiles)
        for (const std::int64_t bytes_per_entry : {6, 8, 12}) {
            CAPTURE(name);
            CAPTURE(bytes_per_entry);
            const LayoutPtr layout = built_in_profile(name).layout();

            const Bytes message = message_bytes(*layout, 0.001, {bytes_per_entry, 4});

            CHECK(message.count == message_at_one_per_mille(*layout, bytes_per_entry));
        }
}

TEST_CASE("sparse: a message is its sparse and its uncompressed part") {
    const Layout layout({{"a", {100, 10}}, {"b", {7}}, {"c", {5}}});
    const SparseFormat format{8, 2};

    CHECK(uncompressed_bytes(layout, format) == Bytes{24});
    CHECK(sparse_bytes(layout, 0.01, 1, DensityLaw::independent, format) == Bytes{80});
    CHECK(message_bytes(layout, 0.01, format) == Bytes{104});
}

TEST_CASE("sparse: a message is never lighter than its nominal bytes, where it stays sparse") {
    for (const std::string& name : profiles) {
        CAPTURE(name);
        const LayoutPtr layout = built_in_profile(name).layout();

        const Bytes message = message_bytes(*layout, 0.001, {6, 4});
        const Bytes nominal = nominal_bytes(*layout, 0.001);

        const auto tensors = static_cast<std::int64_t>(layout->tensors().size());
        CHECK(message >= nominal);
        CHECK(message <= nominal + tensors * Bytes{6});
    }
}

TEST_CASE("sparse, property: kept entries are the exact share, rounded up") {
    struct Share {
        double density;
        std::int64_t numerator;
        std::int64_t denominator;
    };
    const std::vector<Share> shares{{1e-3, 1, 1000},   {0.01, 1, 100},  {0.25, 1, 4},
                                    {1, 1, 1},         {0.004, 1, 250}, {0.0625, 1, 16},
                                    {0.015625, 1, 64}, {0.1, 1, 10},    {0.7, 7, 10},
                                    {0.07, 7, 100},    {0.55, 11, 20}};
    std::mt19937_64 rng(1);
    for (const Share& share : shares)
        for (int i = 0; i < 5000; ++i) {
            const auto n = static_cast<std::int64_t>(i < 3000 ? static_cast<std::uint64_t>(i + 1)
                                                              : 1 + rng() % 1'000'000'000);
            CAPTURE(share.density);
            CAPTURE(n);

            REQUIRE(kept_entries(n, share.density) ==
                    exact_share(n, share.numerator, share.denominator));
            REQUIRE(kept_entries(n * share.denominator, share.density) == n * share.numerator);
        }
}

TEST_CASE("sparse: at least one entry of a tensor is kept, and never more than there are") {
    CHECK(kept_entries(1, 0.001) == 1);
    CHECK(kept_entries(1, 1e-9) == 1);
    CHECK(kept_entries(999, 0.001) == 1);
    CHECK(kept_entries(4'096'000, 0.001) == 4096);
    CHECK(kept_entries(3, 0.999) == 3);
    CHECK(kept_entries(3, 1) == 3);
}

TEST_CASE("sparse: a density lies above 0 and not above 1") {
    CHECK_THROWS_AS(kept_entries(10, 0), LogicError);
    CHECK_THROWS_AS(kept_entries(10, -0.1), LogicError);
    CHECK_THROWS_AS(kept_entries(10, 1.001), LogicError);
    CHECK_THROWS_AS(kept_entries(10, std::nan("")), LogicError);
}

TEST_CASE("sparse: disjoint supports of 1000 in a million grow in proportion") {
    for (const int c : {2, 4, 8, 16, 32, 64, 128}) {
        CAPTURE(c);

        CHECK(merged(c, DensityLaw::worst_case) == 1000 * c);
    }
}

TEST_CASE("sparse: independent supports of 1000 in a million overlap") {
    struct Density {
        int contributions;
        double percent;
    };
    const std::vector<Density> densities{{2, 0.200},  {4, 0.399},  {8, 0.797},  {16, 1.588},
                                         {32, 3.151}, {64, 6.203}, {128, 12.02}};
    for (const Density& density : densities) {
        CAPTURE(density.contributions);

        const std::int64_t entries = merged(density.contributions, DensityLaw::independent);

        const double percent = static_cast<double>(entries) / 10'000;
        CHECK(percent == Approx(density.percent).epsilon(5e-4));
    }
}

TEST_CASE("sparse: the union of independent supports is rounded up") {
    // 10 (1 - 0.7^2) = 5.1, 10 (1 - 0.7^3) = 6.57, 4 (1 - 0.5^2) = 3
    CHECK(merged_entries(10, 3, 2, DensityLaw::independent) == 6);
    CHECK(merged_entries(10, 3, 3, DensityLaw::independent) == 7);
    CHECK(merged_entries(4, 2, 2, DensityLaw::independent) == 3);
}

TEST_CASE("sparse, property: unions grow with contributions, and independent ones no faster") {
    std::mt19937_64 rng(1);
    for (unsigned seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        const auto n = static_cast<std::int64_t>(1 + rng() % (seed % 2 == 0 ? 100 : 100'000'000));
        const auto kept =
            static_cast<std::int64_t>(1 + rng() % static_cast<std::uint64_t>((n + 9) / 10));
        std::int64_t worst_before = kept;
        std::int64_t independent_before = kept;
        REQUIRE(merged_entries(n, kept, 1, DensityLaw::worst_case) == kept);
        REQUIRE(merged_entries(n, kept, 1, DensityLaw::independent) == kept);
        for (int c = 2; c <= 300; ++c) {
            CAPTURE(c);

            const std::int64_t worst = merged_entries(n, kept, c, DensityLaw::worst_case);
            const std::int64_t independent = merged_entries(n, kept, c, DensityLaw::independent);

            REQUIRE(worst >= worst_before);
            REQUIRE(independent >= independent_before);
            REQUIRE(worst >= independent);
            REQUIRE(worst <= n);
            worst_before = worst;
            independent_before = independent;
        }
    }
}

TEST_CASE("sparse: a union of full supports is full") {
    CHECK(merged_entries(50, 50, 3, DensityLaw::worst_case) == 50);
    CHECK(merged_entries(50, 50, 3, DensityLaw::independent) == 50);
    CHECK(merged_entries(50, 30, 1000, DensityLaw::independent) == 50);
}

TEST_CASE("sparse: with 6-byte entries, dense is sent beyond a density of 2/3") {
    const Layout layout({{"a", {300, 10}}});
    const SparseFormat format{6, 4};

    CHECK(sparse_bytes(layout, 1999.0 / 3000, 1, DensityLaw::worst_case, format) == Bytes{11'994});
    CHECK(sparse_bytes(layout, 2000.0 / 3000, 1, DensityLaw::worst_case, format) == Bytes{12'000});
    CHECK(sparse_bytes(layout, 2001.0 / 3000, 1, DensityLaw::worst_case, format) == Bytes{12'000});
    CHECK(sparse_bytes(layout, 1, 1, DensityLaw::worst_case, format) == Bytes{12'000});
}

TEST_CASE("sparse: merging switches to dense tensor by tensor") {
    const Layout layout({{"a", {100, 10}}, {"b", {2, 2}}});

    // a: 3 x 10 entries; b: 3 x 1 entries would weigh 18 bytes, but dense it weighs 16
    CHECK(sparse_bytes(layout, 0.01, 3, DensityLaw::worst_case, {6, 4}) == Bytes{180 + 16});
    CHECK(sparse_bytes(layout, 0.01, 2, DensityLaw::worst_case, {6, 4}) == Bytes{120 + 12});
    CHECK(sparse_bytes(layout, 0.01, 1000, DensityLaw::worst_case, {6, 4}) == Bytes{4000 + 16});
}

TEST_CASE("sparse: no density and no encoding weighs more than dense") {
    for (const std::string& name : profiles)
        for (const double density : {0.001, 0.25, 0.5, 0.7, 1.0})
            for (const std::int64_t bytes_per_entry : {6, 8, 12}) {
                CAPTURE(name);
                CAPTURE(density);
                const LayoutPtr layout = built_in_profile(name).layout();

                const Bytes message = message_bytes(*layout, density, {bytes_per_entry, 4});

                CHECK(message.count <= 4 * layout->entries());
            }
}

TEST_CASE("sparse: a tensor without entries weighs nothing") {
    const Layout layout({{"empty", {0, 5}}});

    CHECK(message_bytes(layout, 0.001, {6, 4}) == Bytes{0});
    CHECK(sparse_bytes(layout, 0.001, 4, DensityLaw::worst_case, {6, 4}) == Bytes{0});
    CHECK(sparse_bytes(layout, 0.001, 4, DensityLaw::independent, {6, 4}) == Bytes{0});
}

}  // namespace
}  // namespace paceline::sparse_test
