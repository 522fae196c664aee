#include "sim/engine/random.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::random_test {
namespace {

std::vector<std::uint32_t> first_outputs(RandomStream stream, std::size_t count) {
    std::vector<std::uint32_t> outputs;
    outputs.reserve(count);
    for (std::size_t i = 0; i < count; ++i) outputs.push_back(stream());
    return outputs;
}

double unit_interval(std::uint32_t output) {
    return (output + 0.5) / 4294967296.0;
}

TEST_CASE("random: the same seed, name and index give the same stream") {
    const RandomStreams once(42);
    const RandomStreams again(42);

    const auto one = first_outputs(once.stream("batch", 3), 1000);
    const auto other = first_outputs(again.stream("batch", 3), 1000);

    CHECK(one == other);
}

TEST_CASE("random: another seed, another name or another index give another stream") {
    const std::array<std::uint64_t, 6> numbers{0, 1, 2, 3, 1000, ~std::uint64_t{0}};
    const std::array<std::string_view, 6> names{"", "a", "b", "batch", "batchb", "straggler"};
    std::set<std::vector<std::uint32_t>> beginnings;

    for (const std::uint64_t seed : numbers)
        for (const std::string_view name : names)
            for (const std::uint64_t index : numbers)
                beginnings.insert(first_outputs(RandomStreams(seed).stream(name, index), 4));

    CHECK(beginnings.size() == 6 * 6 * 6);
}

TEST_CASE("random: an index that is left out is zero") {
    const RandomStreams streams(7);

    CHECK(first_outputs(streams.stream("init"), 10) ==
          first_outputs(streams.stream("init", 0), 10));
}

TEST_CASE("random: a new consumer shifts no other stream") {
    const RandomStreams streams(42);
    const auto alone = first_outputs(streams.stream("batch", 0), 1000);

    RandomStream batch = streams.stream("batch", 0);
    RandomStream newcomer = streams.stream("dropout", 0);
    std::vector<std::uint32_t> beside;
    for (int i = 0; i < 1000; ++i) {
        newcomer();
        beside.push_back(batch());
    }

    CHECK(beside == alone);
}

// Computed independently of this code, in another language, from the papers that the header
// names.
TEST_CASE("random: streams are those of SplitMix64, FNV-1a and taus88, on every machine") {
    const std::vector<std::uint32_t> batch_of_rank_3{1720563592U, 2630265294U, 2092912134U,
                                                     1364909858U};
    const std::vector<std::uint32_t> init{119701442U, 2810704885U, 1443946649U, 2914632822U};

    CHECK(first_outputs(RandomStreams(42).stream("batch", 3), 4) == batch_of_rank_3);
    CHECK(first_outputs(RandomStreams(0).stream("init"), 4) == init);
}

TEST_CASE("random: the values of a stream fill their range evenly") {
    const std::array<std::string_view, 4> names{"batch", "init", "straggler", "flap"};
    constexpr std::size_t draws = 65'536;
    constexpr std::size_t bins = 64;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        for (const std::string_view name : names) {
            CAPTURE(seed);
            CAPTURE(name);
            double sum = 0;
            std::array<double, bins> counts{};

            for (const std::uint32_t output :
                 first_outputs(RandomStreams(seed).stream(name, seed), draws)) {
                sum += unit_interval(output);
                counts[output >> 26U] += 1;
            }

            constexpr double expected = static_cast<double>(draws) / bins;
            double chi_square = 0;
            for (const double count : counts)
                chi_square += (count - expected) * (count - expected) / expected;
            CHECK(std::abs(sum / draws - 0.5) < 5 * 0.2887 / 256);  // five standard errors
            CHECK(chi_square > 63 - 4 * 11.2);                      // of 63 degrees of freedom
            CHECK(chi_square < 63 + 5 * 11.2);
        }
    }
}

/// Pearson's coefficient of the first outputs of streams that differ by one in seed or index.
struct Correlation {
    double xy = 0, x = 0, y = 0, xx = 0, yy = 0, n = 0;

    void add(double a, double b) {
        xy += a * b;
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        n += 1;
    }
    [[nodiscard]] double coefficient() const {
        return (n * xy - x * y) / std::sqrt((n * xx - x * x) * (n * yy - y * y));
    }
};

TEST_CASE("random: the first outputs of neighboring indices and neighboring seeds are unrelated") {
    constexpr std::uint64_t pairs = 10'000;
    const RandomStreams streams(42);
    Correlation of_indices;
    Correlation of_seeds;
    int flipped_bits = 0;

    for (std::uint64_t i = 0; i < pairs; ++i) {
        const std::uint32_t here = streams.stream("batch", i)();
        const std::uint32_t next = streams.stream("batch", i + 1)();
        const std::uint32_t other_seed = RandomStreams(i).stream("batch")();
        const std::uint32_t next_seed = RandomStreams(i + 1).stream("batch")();
        of_indices.add(unit_interval(here), unit_interval(next));
        of_seeds.add(unit_interval(other_seed), unit_interval(next_seed));
        flipped_bits += std::popcount(here ^ next);
    }

    CHECK(std::abs(of_indices.coefficient()) < 0.05);  // five standard errors
    CHECK(std::abs(of_seeds.coefficient()) < 0.05);
    CHECK(std::abs(flipped_bits / double(pairs) - 16) < 0.15);
}

TEST_CASE("random: the first outputs over many indices fill their range evenly") {
    constexpr std::uint64_t draws = 65'536;
    const RandomStreams streams(1);
    std::array<double, 64> counts{};

    for (std::uint64_t index = 0; index < draws; ++index)
        counts[streams.stream("batch", index)() >> 26U] += 1;

    double chi_square = 0;
    for (const double count : counts) chi_square += (count - 1024) * (count - 1024) / 1024;
    CHECK(chi_square > 63 - 4 * 11.2);
    CHECK(chi_square < 63 + 5 * 11.2);
}

}  // namespace
}  // namespace paceline::random_test
