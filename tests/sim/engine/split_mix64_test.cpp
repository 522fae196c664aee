#include "sim/engine/split_mix64.hpp"

#include <array>

#include <doctest/doctest.h>

namespace paceline::split_mix64_test {
namespace {

constexpr std::uint64_t step = 0x9E3779B97F4A7C15U;

template <std::size_t N>
constexpr std::array<std::uint64_t, N> first_outputs(std::uint64_t seed) {
    std::array<std::uint64_t, N> outputs{};
    for (std::uint64_t& output : outputs) {
        output = split_mix64(seed);
        seed += step;
    }
    return outputs;
}

// Published with Vigna's reference code, and in the tests of other implementations.
TEST_CASE("split mix: its outputs are the published ones, on every machine") {
    constexpr std::array<std::uint64_t, 5> of_1234567{6457827717110365317U, 3203168211198807973U,
                                                      9817491932198370423U, 4593380528125082431U,
                                                      16408922859458223821U};
    constexpr std::array<std::uint64_t, 3> of_0{0xE220A8397B1DCDAFU, 0x6E789E6AA1B965F4U,
                                                0x06C45D188009454FU};

    static_assert(first_outputs<5>(1234567) == of_1234567);
    static_assert(first_outputs<3>(0) == of_0);
    CHECK(first_outputs<5>(1234567) == of_1234567);
}

}  // namespace
}  // namespace paceline::split_mix64_test
