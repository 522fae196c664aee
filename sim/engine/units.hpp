// Distinct types for the quantities of the simulated world: time, bytes, bandwidth.
//
//   Duration, Time   64-bit picoseconds (chrono); the range is 106 days, its end is `never`
//   Bytes            64-bit count of bytes
//   Bandwidth        64-bit bits per second
//   Bytes / Bandwidth -> Duration, rounded up to the next picosecond: a transfer never ends early
//
// Arithmetic saturates instead of wrapping: Time at `never`, Bytes at Bytes::max(). The text form
// is a number with an unambiguous unit: "bps" is bits, "B" is bytes, decimal prefixes are powers of
// ten, and "KiB" and similar are powers of two. parse_* throws UnitError on anything else,
// including a bare number. to_string is its inverse.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace paceline {

using Duration = std::chrono::duration<std::int64_t, std::pico>;

struct SimClock {
    using rep = Duration::rep;
    using period = Duration::period;
    using duration = Duration;
    using time_point = std::chrono::time_point<SimClock>;
    static constexpr bool is_steady = true;
};

using Time = SimClock::time_point;

/// A time that is never reached: the end of the representable range.
inline constexpr Time never = Time::max();
/// The last time that may be reached.
inline constexpr Time end_of_time = never - Duration{1};

/// Returns at + wait, or `never` if that leaves the range. Requires wait >= 0.
constexpr Time later(Time at, Duration wait) {
    std::int64_t sum = 0;
    const bool over = __builtin_add_overflow(at.time_since_epoch().count(), wait.count(), &sum);
    return over ? never : Time{Duration{sum}};
}

/// Return a + b and n d, or Duration::max() if that leaves the range. Require nonnegative operands.
constexpr Duration sum(Duration a, Duration b) {
    return later(Time{a}, b).time_since_epoch();
}
constexpr Duration multiple(std::int64_t n, Duration d) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(n, d.count(), &product) ? Duration::max() : Duration{product};
}

struct Bytes {
    std::int64_t count = 0;

    static constexpr Bytes max() { return {std::numeric_limits<std::int64_t>::max()}; }

    constexpr auto operator<=>(const Bytes&) const = default;
    constexpr Bytes& operator+=(Bytes other) { return *this = *this + other; }

    friend constexpr Bytes operator+(Bytes a, Bytes b) {
        std::int64_t sum = 0;
        return __builtin_add_overflow(a.count, b.count, &sum) ? max() : Bytes{sum};
    }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
    friend constexpr Bytes operator*(std::int64_t n, Bytes size) {
        std::int64_t product = 0;
        return __builtin_mul_overflow(n, size.count, &product) ? max() : Bytes{product};
    }
};

struct Bandwidth {
    std::int64_t bits_per_second = 0;

    constexpr auto operator<=>(const Bandwidth&) const = default;
};

/// Returns a share of a bandwidth, such as the part left for payload, rounded to the nearest bit
/// per second. Requires 0 <= share <= 1.
constexpr Bandwidth operator*(double share, Bandwidth rate) {
    const double exact = share * static_cast<double>(rate.bits_per_second);
    const auto below = static_cast<std::int64_t>(exact);
    return {exact - static_cast<double>(below) < 0.5 ? below : below + 1};
}

/// Returns the time to put `size` on a wire of rate `rate`, rounded up. Requires size >= 0 and rate
/// > 0.
constexpr Duration operator/(Bytes size, Bandwidth rate) {
    constexpr std::int64_t bit_ps = 8 * Duration::period::den;
    std::int64_t narrow = 0;
    if (!__builtin_mul_overflow(size.count, bit_ps, &narrow)) [[likely]]
        return Duration{narrow / rate.bits_per_second + (narrow % rate.bits_per_second != 0)};
    __extension__ using Wide = __int128;
    const Wide wide = Wide{size.count} * bit_ps;
    const Wide ticks = (wide + rate.bits_per_second - 1) / rate.bits_per_second;
    return ticks > Duration::max().count() ? Duration::max()
                                           : Duration{static_cast<std::int64_t>(ticks)};
}

constexpr double to_seconds(Duration span) {
    return static_cast<double>(span.count()) / static_cast<double>(Duration::period::den);
}

/// Converts seconds to the nearest picosecond, or Duration::max() if out of range. Requires seconds
/// >= 0.
Duration from_seconds(double seconds);

/// Says what is wrong with a quantity's text and how to fix it. Whoever reads the file adds the
/// location.
class UnitError : public std::runtime_error {
  public:
    UnitError(const std::string& problem, std::string meant)
        : std::runtime_error(problem), meant_(std::move(meant)) {}
    /// Returns the text of the same quantity that was probably meant, such as "25Gbps" for
    /// "25 Gb/s"; empty if it is not known. It can be parsed.
    [[nodiscard]] const std::string& meant() const { return meant_; }

  private:
    std::string meant_;
};

Duration parse_duration(std::string_view text);
Bytes parse_bytes(std::string_view text);
Bandwidth parse_bandwidth(std::string_view text);

std::string to_string(Duration span);
std::string to_string(Bytes size);
std::string to_string(Bandwidth rate);

namespace literals {

constexpr Bytes operator""_B(unsigned long long n) {
    return {static_cast<std::int64_t>(n)};
}
constexpr Bytes operator""_MB(unsigned long long n) {
    return {static_cast<std::int64_t>(n) * 1'000'000};
}
constexpr Bandwidth operator""_Mbps(unsigned long long n) {
    return {static_cast<std::int64_t>(n) * 1'000'000};
}
constexpr Bandwidth operator""_Gbps(unsigned long long n) {
    return {static_cast<std::int64_t>(n) * 1'000'000'000};
}

}  // namespace literals

}  // namespace paceline
