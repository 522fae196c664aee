#include "sim/engine/units.hpp"

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace paceline::units_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

template <class A, class B>
concept CanAdd = requires(A a, B b) { a + b; };
template <class A, class B>
concept CanSubtract = requires(A a, B b) { a - b; };
template <class A, class B>
concept CanMultiply = requires(A a, B b) { a* b; };
template <class A, class B>
concept CanDivide = requires(A a, B b) { a / b; };
template <class A, class B>
concept CanCompare = requires(A a, B b) { a < b; };

/// A number of every magnitude below 2^bits: uniform, then shifted by a random amount.
std::int64_t number_below_power(std::mt19937_64& rng, unsigned bits) {
    const std::uint64_t uniform = rng() >> (64U - bits);
    const std::uint64_t shift = rng() % bits;
    return static_cast<std::int64_t>(uniform >> shift);
}

/// Returns the text of the refusal, or "accepted".
template <class Parse>
std::string refusal(Parse parse, std::string_view text) {
    try {
        parse(text);
    } catch (const UnitError& error) {
        return error.what();
    }
    return "accepted";
}

TEST_CASE("units: a transfer takes its bits divided by the rate") {
    static_assert(1500_B / 10_Gbps == 1200ns);
    static_assert(1_MB / 8_Mbps == 1s);
    static_assert(1_B / Bandwidth{1} == 8s);
    static_assert(0_B / 10_Gbps == 0ns);

    CHECK(97_MB / 1_Gbps == 776ms);
}

TEST_CASE("units: a transfer that ends between two ticks takes the later one") {
    static_assert(1_B / Bandwidth{3} == Duration{2'666'666'666'667});
    static_assert(1_B / Bandwidth{8'000'000'000'001} == Duration{1});
    static_assert(Bytes{2'000'000} / Bandwidth{3} == Duration{5'333'333'333'333'333'334});

    CHECK(1_B / Bandwidth{std::numeric_limits<std::int64_t>::max()} == Duration{1});
}

TEST_CASE(
    "units, property: a transfer takes the smallest time in which the rate carries the size") {
    __extension__ using Wide = __int128;
    for (unsigned seed = 0; seed < 20'000; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const Bytes size{number_below_power(rng, 63)};
        const Bandwidth rate{1 + number_below_power(rng, 62)};

        const Duration span = size / rate;

        const Wide work = Wide{size.count} * 8 * 1'000'000'000'000;
        const Wide done = Wide{span.count()} * rate.bits_per_second;
        const bool saturated = span == Duration::max();
        const bool enough = done >= work;
        const bool enough_one_tick_before = done - rate.bits_per_second >= work;
        REQUIRE((enough || saturated));
        REQUIRE((size.count == 0 || !enough_one_tick_before));
    }
}

TEST_CASE("units: a transfer beyond the range takes the longest duration") {
    static_assert(Bytes::max() / Bandwidth{1} == Duration::max());
    static_assert(Bytes{1'152'922} / Bandwidth{1} == Duration::max());

    CHECK(Bytes{1'152'921} / Bandwidth{1} == 9'223'368s);
}

TEST_CASE("units: time saturates at never") {
    static_assert(later(Time{5us}, 3us) == Time{8us});
    static_assert(later(Time{5us}, Duration::max()) == never);
    static_assert(later(never, Duration{1}) == never);
    static_assert(later(never - Duration{1}, Duration{1}) == never);

    CHECK(later(never - Duration{2}, Duration{1}) == never - Duration{1});
}

TEST_CASE("units: bytes saturate at the largest count") {
    static_assert(1_B + 2_B == 3_B);
    static_assert(3_B - 2_B == 1_B);
    static_assert(3 * 2_B == 6_B);
    static_assert(Bytes::max() + 1_B == Bytes::max());
    static_assert(2 * Bytes::max() == Bytes::max());

    Bytes total = Bytes::max() - 1_B;
    total += 1_B;
    total += 1_B;

    CHECK(total == Bytes::max());
}

TEST_CASE("units: quantities of different kinds do not mix, and numbers do not become quantities") {
    static_assert(!CanAdd<Bytes, Duration>);
    static_assert(!CanAdd<Bytes, Bandwidth>);
    static_assert(!CanAdd<Bytes, int>);
    static_assert(!CanAdd<Time, Time>);
    static_assert(!CanSubtract<Bytes, Duration>);
    static_assert(!CanMultiply<Bytes, Bytes>);
    static_assert(!CanDivide<Bandwidth, Bytes>);
    static_assert(!CanCompare<Bytes, Bandwidth>);
    static_assert(!CanCompare<Time, Duration>);
    static_assert(!CanCompare<Bytes, int>);
    static_assert(!std::convertible_to<int, Bytes>);
    static_assert(!std::convertible_to<int, Bandwidth>);
    static_assert(!std::convertible_to<int, Duration>);
    static_assert(!std::constructible_from<Duration, double>);
    static_assert(!std::convertible_to<Duration, Time>);
    static_assert(std::same_as<decltype(1_B / 1_Gbps), Duration>);
    static_assert(std::same_as<decltype(Time{} - Time{}), Duration>);

    CHECK(CanAdd<Bytes, Bytes>);
    CHECK(CanAdd<Time, Duration>);
}

TEST_CASE("units: a share of a bandwidth is rounded to the nearest bit per second") {
    static_assert(0.5 * 10_Gbps == 5_Gbps);
    static_assert(0.0 * 10_Gbps == Bandwidth{0});
    static_assert(1.0 * 10_Gbps == 10_Gbps);
    static_assert(0.5 * Bandwidth{3} == Bandwidth{2});

    CHECK(1448.0 / 1538.0 * 10_Gbps == Bandwidth{9'414'824'447});
}

TEST_CASE("units: the whole share of a bandwidth is that bandwidth") {
    const Bandwidth odd{(std::int64_t{1} << 52) + 1};

    CHECK(1.0 * odd == odd);
}

TEST_CASE("units: seconds become picoseconds to the nearest, and the longest duration beyond") {
    CHECK(from_seconds(0.0) == 0ns);
    CHECK(from_seconds(1.5e-6) == 1500ns);
    CHECK(from_seconds(1.4e-12) == Duration{1});
    CHECK(from_seconds(1.6e-12) == Duration{2});
    CHECK(from_seconds(1e7) == Duration::max());
    CHECK(from_seconds(std::numeric_limits<double>::infinity()) == Duration::max());
    CHECK(to_seconds(1500ms) == 1.5);
    CHECK(to_seconds(from_seconds(0.344)) == 0.344);
}

TEST_CASE("units: every unit of time is read") {
    CHECK(parse_duration("7ps") == Duration{7});
    CHECK(parse_duration("7ns") == 7ns);
    CHECK(parse_duration("50us") == 50us);
    CHECK(parse_duration("344ms") == 344ms);
    CHECK(parse_duration("1.5s") == 1500ms);
    CHECK(parse_duration("2min") == 2min);
    CHECK(parse_duration("3h") == 3h);
    CHECK(parse_duration("106d") == 106 * 24h);
    CHECK(parse_duration("0s") == 0s);
    CHECK(parse_duration("1e3us") == 1ms);
}

TEST_CASE("units: every unit of size is read, decimal and binary") {
    CHECK(parse_bytes("7B") == 7_B);
    CHECK(parse_bytes("408kB") == 408'000_B);
    CHECK(parse_bytes("97.49MB") == 97'490'000_B);
    CHECK(parse_bytes("2GB") == 2000_MB);
    CHECK(parse_bytes("2TB") == 2'000'000_MB);
    CHECK(parse_bytes("2KiB") == 2048_B);
    CHECK(parse_bytes("64MiB") == 64 * 1'048'576_B);
    CHECK(parse_bytes("1.5GiB") == 1536 * 1'048'576_B);
    CHECK(parse_bytes("1TiB") == 1'048'576 * 1'048'576_B);
}

TEST_CASE("units: every unit of bandwidth is read, in bits and in bytes") {
    CHECK(parse_bandwidth("7bps") == Bandwidth{7});
    CHECK(parse_bandwidth("56kbps") == Bandwidth{56'000});
    CHECK(parse_bandwidth("100Mbps") == 100_Mbps);
    CHECK(parse_bandwidth("2.5Gbps") == 2500_Mbps);
    CHECK(parse_bandwidth("1.6Tbps") == 1600_Gbps);
    CHECK(parse_bandwidth("7Bps") == Bandwidth{56});
    CHECK(parse_bandwidth("1kBps") == Bandwidth{8'000});
    CHECK(parse_bandwidth("125MBps") == 1_Gbps);
    CHECK(parse_bandwidth("15.75GBps") == 126_Gbps);
    CHECK(parse_bandwidth("1TBps") == 8000_Gbps);
}

TEST_CASE("units: text has the largest decimal unit that fits, and no digit too many") {
    CHECK(to_string(0ns) == "0ps");
    CHECK(to_string(Duration{999}) == "999ps");
    CHECK(to_string(1500ns) == "1.5us");
    CHECK(to_string(1ms) == "1ms");
    CHECK(to_string(Duration{1'000'000'000'001}) == "1.000000000001s");
    CHECK(to_string(90min) == "5400s");
    CHECK(to_string(97'490'000_B) == "97.49MB");
    CHECK(to_string(1024_B) == "1.024kB");
    CHECK(to_string(10_Gbps) == "10Gbps");
    CHECK(to_string(2500_Mbps) == "2.5Gbps");
}

TEST_CASE("units, property: reading what was printed gives the same quantity") {
    for (unsigned seed = 0; seed < 20'000; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const std::int64_t number = number_below_power(rng, 53);
        CAPTURE(number);

        REQUIRE(parse_duration(to_string(Duration{number})) == Duration{number});
        REQUIRE(parse_bytes(to_string(Bytes{number})) == Bytes{number});
        REQUIRE(parse_bandwidth(to_string(Bandwidth{number})) == Bandwidth{number});
    }
}

std::string not_a_duration(std::string_view text, std::string_view why) {
    return '"' + std::string(text) + R"(" is not a duration: )" + std::string(why) +
           R"(; write for example "50us", "344ms", "1.5s")";
}

std::string not_a_size(std::string_view text, std::string_view why) {
    return '"' + std::string(text) + R"(" is not a size: )" + std::string(why) +
           R"(; write for example "408kB", "97MB", "64MiB")";
}

std::string not_a_bandwidth(std::string_view text, std::string_view why) {
    return '"' + std::string(text) + R"(" is not a bandwidth: )" + std::string(why) +
           R"(; write for example "10Gbps" (bits), "125MBps" (bytes))";
}

TEST_CASE("units: a bare number is refused, with examples of what is right") {
    CHECK(refusal(parse_duration, "50") == R"("50" is not a duration: the unit is missing; )"
                                           R"(write for example "50us", "344ms", "1.5s")");
    CHECK(refusal(parse_duration, "0") == not_a_duration("0", "the unit is missing"));
    CHECK(refusal(parse_bytes, "1e6") == not_a_size("1e6", "the unit is missing"));
    CHECK(refusal(parse_bandwidth, "10") == not_a_bandwidth("10", "the unit is missing"));
}

TEST_CASE("units: an unknown unit is refused, with the list of the known ones") {
    for (const std::string unit : {"B", "Gbps", "e", "s5", "mo", "x"}) {
        const std::string why =
            "the unit \"" + unit + "\" is unknown; known: ps, ns, us, ms, s, min, h, d";
        CHECK(refusal(parse_duration, "5" + unit) == not_a_duration("5" + unit, why));
    }
    CHECK(refusal(parse_bytes, "5Mb") ==
          not_a_size("5Mb",
                     R"(the unit "Mb" is unknown; known: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)"));
    CHECK(refusal(parse_bandwidth, "10Gb") ==
          not_a_bandwidth("10Gb", R"(the unit "Gb" is unknown; did you mean "10Gbps"? known: bps, )"
                                  R"(kbps, Mbps, Gbps, Tbps, Bps, kBps, MBps, GBps, TBps)"));
}

struct Written {
    std::string_view text;
    std::string_view meant;  // empty: nobody can tell
};

// Returns what a refusal says was meant.
template <class Parse>
std::string meant_by(Parse parse, std::string_view text) {
    try {
        parse(text);
    } catch (const UnitError& error) {
        const std::string asked = error.meant().empty() ? "known: " : "did you mean \"";
        CHECK(std::string(error.what()).find("is unknown; " + asked + error.meant()) !=
              std::string::npos);
        return error.meant();
    }
    return "accepted";
}

// The oracle is what the standards of units say: k, M, G, T and P are powers of a thousand, a bit
// is "b" or "bit" and a byte "B" or "byte", and the micro sign has two code points.
TEST_CASE("units: what people write instead of a unit is understood, or nothing is guessed") {
    for (const auto& [text, meant] : std::to_array<Written>({{"1Kbps", "1kbps"},
                                                             {"25gbps", "25Gbps"},
                                                             {"2.5mbps", "2.5Mbps"},
                                                             {"10 Gbps", "10Gbps"},
                                                             {"25Gb/s", "25Gbps"},
                                                             {"25 Gbit/s", "25Gbps"},
                                                             {"25Gbit", "25Gbps"},
                                                             {"3GB/s", "3GBps"},
                                                             {"3gB/s", "3GBps"},
                                                             {"3GB", "3GBps"},
                                                             {"12Pbps", "12000Tbps"},
                                                             {"1.5PB/s", "1500TBps"},
                                                             {"1MByte/s", "1MBps"},
                                                             {"10GBPS", ""},
                                                             {"1Gib/s", ""},
                                                             {"1GiB/s", ""},
                                                             {"1b", ""},
                                                             {"5s", ""},
                                                             {"1e30Pbps", ""}})) {
        CAPTURE(text);
        CHECK(meant_by(parse_bandwidth, text) == meant);
    }
    for (const auto& [text, meant] : std::to_array<Written>({{"5\u00b5s", "5us"},
                                                             {"5\u03bcs", "5us"},
                                                             {"5 us", "5us"},
                                                             {"5us ", "5us"},
                                                             {"5US", "5us"},
                                                             {"5sec", "5s"},
                                                             {"2hours", "2h"},
                                                             {"1.5m", "1.5min"},
                                                             {"3Days", "3d"},
                                                             {"7usec", "7us"},
                                                             {"1e15psec", "1e15ps"},
                                                             {"1weeks", ""}})) {
        CAPTURE(text);
        CHECK(meant_by(parse_duration, text) == meant);
    }
    for (const auto& [text, meant] : std::to_array<Written>({{"408KB", "408kB"},
                                                             {"97mb", "97MB"},
                                                             {"97Mb", ""},
                                                             {"64mib", "64MiB"},
                                                             {"64M", "64MB"},
                                                             {"5 GB", "5GB"},
                                                             {"2PB", "2000TB"},
                                                             {"2PiB", "2048TiB"},
                                                             {"12bytes", "12B"},
                                                             {"1MBps", ""},
                                                             {"1Mbit", ""}})) {
        CAPTURE(text);
        CHECK(meant_by(parse_bytes, text) == meant);
    }
}

struct Refusal {
    std::string_view text;
    std::string_view why;
};

TEST_CASE("units: a duration that is no sensible number is refused, and the refusal says why") {
    constexpr std::array refusals{
        Refusal{"", "it does not begin with a number"},
        Refusal{"us", "it does not begin with a number"},
        Refusal{" 5us", "it does not begin with a number"},
        Refusal{"+5us", "it does not begin with a number"},
        Refusal{"-", "it does not begin with a number"},
        Refusal{".us", "it does not begin with a number"},
        Refusal{"fast", "it does not begin with a number"},
        Refusal{"-5us", "it is negative"},
        Refusal{"-0.1ps", "it is negative"},
        Refusal{"nans", "it is not a finite number"},
        Refusal{"infs", "it is not a finite number"},
        Refusal{"-infs", "it is not a finite number"},
        Refusal{"1e99999s", "the number is too large"},
        Refusal{"107d", "it is beyond the range of the simulator"},
        Refusal{"1e300s", "it is beyond the range of the simulator"},
        Refusal{"9223372036854775807ps", "it is beyond the range of the simulator"},
        Refusal{"0.4ps", "it is below the resolution of 1 ps"},
        Refusal{"1e-13s", "it is below the resolution of 1 ps"},
    };

    for (const Refusal& refused : refusals)
        CHECK(refusal(parse_duration, refused.text) == not_a_duration(refused.text, refused.why));
}

TEST_CASE("units: a number too small for a floating-point number is below the resolution") {
    CHECK(refusal(parse_duration, "1e-99999s") ==
          not_a_duration("1e-99999s", "it is below the resolution of 1 ps"));
}

TEST_CASE("units: sizes and bandwidths refuse what is below their resolution or beyond the range") {
    CHECK(refusal(parse_bytes, "0.4B") == not_a_size("0.4B", "it is below the resolution of 1 B"));
    CHECK(refusal(parse_bytes, "9.3e6TB") ==
          not_a_size("9.3e6TB", "it is beyond the range of the simulator"));
    CHECK(refusal(parse_bandwidth, "0.4bps") ==
          not_a_bandwidth("0.4bps", "it is below the resolution of 1 bps"));
    CHECK(refusal(parse_bandwidth, "1.2e6TBps") ==
          not_a_bandwidth("1.2e6TBps", "it is beyond the range of the simulator"));
    CHECK(refusal(parse_bandwidth, "-1Gbps") == not_a_bandwidth("-1Gbps", "it is negative"));
}

}  // namespace
}  // namespace paceline::units_test
